import { basename } from 'node:path';
import { oneLine, printable } from '../../kernel/text.js';
import type { Prompt } from '../../model/source.js';

/** How a client writes a variable, besides `${X}` and `${env:X}`, which are always understood. */
export type Notation = 'dollar' | 'braces' | 'percent' | 'secrets';

/** What stands around a text. */
export interface TextContext {
  readonly notations: readonly Notation[];
  readonly home: string;
  /** The folder of the project, where there is one. */
  readonly project?: string;
  /** What the file says about a value it asks for, by its id. */
  readonly describe?: (input: string) => { readonly text?: string; readonly fallback?: string };
}

const NAME = '[A-Za-z_][A-Za-z0-9_]*';
const DOLLAR = new RegExp(`\\$\\{[^}]*\\}|\\$(${NAME})`, 'g');
const BRACES = new RegExp(`\\$\\{[^}]*\\}|\\{env:(${NAME})\\}`, 'g');
const PERCENT = new RegExp(`\\$\\{[^}]*\\}|%(${NAME})%`, 'g');
const SECRETS = new RegExp(`\\$\\{\\{ {0,3}(?:secrets|inputs)\\.(${NAME}) {0,3}\\}\\}`, 'g');
const FORMS: Readonly<Record<Notation, RegExp>> = {
  dollar: DOLLAR,
  braces: BRACES,
  percent: PERCENT,
  secrets: SECRETS,
};

/** Characters of what a client would ask; it ends in messages. */
const MAX_PROMPT = 160;

/** The variable that stands for a value the client asks for: `api-key` → `MCP_INPUT_API_KEY`. */
export function inputVariable(id: string): string {
  return `MCP_INPUT_${id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')}`;
}

/** Whether a text can name an environment variable. */
export function isVariableName(text: unknown): text is string {
  return typeof text === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(text);
}

function fillEditorVariable(name: string, context: TextContext): string | undefined {
  const { home, project } = context;
  if (name === 'userHome') return home;
  if (project === undefined) return undefined;
  if (name === 'workspaceFolder' || name === 'workspaceRoot' || name.startsWith('workspaceFolder:')) return project;
  return name === 'workspaceFolderBasename' ? basename(project) : undefined;
}

/**
 * A text in a client's notation as one in ours. What the client would ask its user for becomes a variable with a
 * name of its own; what cannot be known here stays as it is, and the server that needs it says so instead of
 * starting (CFG-4).
 */
export function translate(text: string, context: TextContext, prompts: Map<string, Prompt>): string {
  let out = text;
  for (const notation of context.notations) {
    out = out.replace(FORMS[notation], (whole: string, name?: string) => (name === undefined ? whole : `\${${name}}`));
  }
  return out.replace(/\$\{([^}]*)\}/g, (whole: string, body: string) => {
    if (body.startsWith('env:')) return `\${${body.slice('env:'.length)}}`;
    if (body.startsWith('input:')) {
      const id = body.slice('input:'.length);
      const variable = inputVariable(id);
      const { text: asked, fallback } = context.describe?.(id) ?? {};
      const named = asked === undefined ? `input "${id}"` : `input "${id}": ${asked}`;
      prompts.set(variable, { variable, text: oneLine(printable(named), MAX_PROMPT) });
      return fallback === undefined || fallback.includes('}') ? `\${${variable}}` : `\${${variable}:-${fallback}}`;
    }
    return fillEditorVariable(body, context) ?? whole;
  });
}
