import type { JsonObject } from '../kernel/json.js';
import type { LeafKind, Shape } from './shape.js';

const TYPES: Readonly<Record<LeafKind, string | undefined>> = {
  any: undefined,
  string: 'string',
  int: 'integer',
  float: 'number',
  bool: 'boolean',
  null: 'null',
};

/** The JSON Schema of a shape; reading it again gives the same shape. */
export function schemaOf(shape: Shape): JsonObject {
  switch (shape.kind) {
    case 'vector':
      return { type: 'array', items: schemaOf(shape.items) };
    case 'union':
      return { anyOf: shape.members.map((member) => schemaOf(member)) };
    case 'map': {
      // Without a prototype, so that a key called __proto__ is a key.
      const properties = Object.create(null) as JsonObject;
      for (const entry of shape.entries) properties[entry.key] = schemaOf(entry.type);
      const required = shape.entries.filter((entry) => !entry.optional).map((entry) => entry.key);
      return { type: 'object', properties, ...(required.length > 0 ? { required } : {}) };
    }
    default: {
      const type = TYPES[shape.kind];
      return { ...(type ? { type } : {}), ...(shape.values ? { enum: [...shape.values] } : {}) };
    }
  }
}
