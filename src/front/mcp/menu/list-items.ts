import { flattenSchema } from '../../../kernel/schema/flat-schema.js';
import { isObject, type JsonObject } from '../../../kernel/json.js';
import {
  strictPrompt,
  strictResource,
  strictResourceTemplate,
  strictTool,
  type Strict,
} from '../../../protocol/strict-items.js';

/**
 * Entries of lists in a form that every host can parse: one that a host cannot parse would cost it the whole list. An entry
 * for which there is no such form is `undefined`. Each is worked out once and kept as long as what it was made of.
 */
export interface ListItems {
  /** `flat`: without a union at the root of its input schema. `isCut`: without its output schema. */
  tool(definition: JsonObject, flat: boolean, isCut?: boolean): JsonObject | undefined;
  prompt(entry: JsonObject): JsonObject | undefined;
  resource(entry: JsonObject): JsonObject | undefined;
  resourceTemplate(entry: JsonObject): JsonObject | undefined;
}

/** The entries that one front shows. */
export function createListItems(): ListItems {
  const made = new WeakMap<JsonObject, Strict>();
  const flattened = new WeakMap<JsonObject, JsonObject>();
  const shortened = new WeakMap<JsonObject, JsonObject>();

  const through =
    (strict: (raw: JsonObject) => Strict) =>
    (raw: JsonObject): JsonObject | undefined => {
      const known = made.get(raw) ?? strict(raw);
      made.set(raw, known);
      return 'item' in known ? known.item : undefined;
    };
  const tool = through(strictTool);
  const flatTool = (item: JsonObject): JsonObject => {
    const { inputSchema } = item;
    const flat = flattened.get(item) ?? {
      ...item,
      inputSchema: isObject(inputSchema) ? flattenSchema(inputSchema) : inputSchema,
    };
    flattened.set(item, flat);
    return flat;
  };
  const cutTool = (item: JsonObject): JsonObject => {
    const { outputSchema: _withheld, ...rest } = item;
    const cut = shortened.get(item) ?? rest;
    shortened.set(item, cut);
    return cut;
  };

  return {
    tool(definition, flat, isCut = false) {
      const item = tool(definition);
      const shown = item && isCut ? cutTool(item) : item;
      return shown && flat ? flatTool(shown) : shown;
    },
    prompt: through(strictPrompt),
    resource: through(strictResource),
    resourceTemplate: through(strictResourceTemplate),
  };
}
