import { ToolscoutError } from '../../../kernel/errors.js';
import type { JsonObject } from '../../../kernel/json.js';

/** The tool that a call is about. */
export interface Address {
  readonly server: string;
  readonly tool: string;
}

/** The arguments of a meta-tool call, read once at the door. */
export class MetaArguments {
  constructor(
    private readonly tool: string,
    private readonly values: JsonObject,
  ) {}

  private fail(name: string, expected: string): never {
    const found =
      this.values[name] === undefined ? 'it is missing' : `found ${JSON.stringify(this.values[name])?.slice(0, 80)}`;
    throw new ToolscoutError('INVALID_REQUEST', `${this.tool} needs "${name}" to be ${expected}; ${found}.`);
  }

  text(name: string): string {
    const value = this.values[name];
    return typeof value === 'string' ? value : this.fail(name, 'a text');
  }

  /** Agents fill in what they leave out: nothing, null and a blank text are the same. */
  optionalText(name: string): string | undefined {
    return (this.values[name] ?? '') === '' ? undefined : this.text(name);
  }

  /** A list of texts, or one text. */
  texts(name: string): string[] {
    const list = [this.values[name] ?? []].flat();
    return list.every((item) => typeof item === 'string') ? list : this.fail(name, 'a list of texts');
  }

  flag(name: string): boolean {
    const value = this.values[name] ?? false;
    return typeof value === 'boolean' ? value : this.fail(name, 'true or false');
  }

  count(name: string, fallback: number, most: number): number {
    const value = this.values[name] ?? fallback;
    return typeof value === 'number' && Number.isInteger(value) && value >= 1
      ? Math.min(value, most)
      : this.fail(name, `a whole number from 1 to ${most}`);
  }

  /** Server and tool; `server:tool` in `tool` is accepted (META-4). */
  address(): Address {
    const tool = this.text('tool');
    const server = this.optionalText('server');
    const colon = tool.indexOf(':');
    if (colon > 0 && server === undefined) {
      return { server: tool.slice(0, colon), tool: tool.slice(colon + 1) };
    }
    return { server: server ?? this.text('server'), tool };
  }
}
