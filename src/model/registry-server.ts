import type { JsonObject } from '../kernel/json.js';
import type { ServerEntry } from './config.js';

/** A server as an official registry describes it. Nothing in it is trusted, and nothing of it runs by itself. */
export interface RegistryServer {
  /** Reverse-DNS name with one slash: `io.github.user/weather`. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version: string;
  readonly status: 'active' | 'deprecated';
  readonly updatedAt?: string;
  readonly repository?: string;
  /** The `server.json`, as it was published. */
  readonly document: JsonObject;
}

/** Something a person must or may say before a server can be used. */
export interface LaunchInput {
  /** The name under which an answer is given. */
  readonly key: string;
  readonly where: 'argument' | 'environment' | 'header' | 'url';
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
  /** May be answered several times. */
  readonly repeated: boolean;
  readonly format: 'string' | 'number' | 'boolean' | 'filepath';
  readonly default?: string;
  readonly placeholder?: string;
  readonly choices?: readonly string[];
}

/** Answers to inputs, by key. */
export type LaunchAnswers = Readonly<Record<string, string | readonly string[]>>;

/** How a server of a registry would be reached: an entry for the config, or the reason why it cannot be launched. */
export type Launch = { readonly way: string } & (
  | {
      readonly ok: true;
      /** What would stand in the config. Secrets stand in it as `${VAR}`, never as values. */
      readonly entry: ServerEntry;
      readonly inputs: readonly LaunchInput[];
      /** Required inputs without an answer; with any of these the entry is not complete. */
      readonly missing: readonly string[];
      /** Answers that cannot be taken, each with what is wrong. Secret values are never in here. */
      readonly problems: readonly string[];
      /** The environment variables that hold the secrets. */
      readonly variables: readonly string[];
      /** The exact command, nothing left out; or the URL. */
      readonly shown: string;
    }
  | { readonly ok: false; readonly reason: string }
);

/** What a search of a registry found. */
export interface RegistryAnswer {
  readonly servers: readonly RegistryServer[];
  /** There is more than was read. */
  readonly truncated: boolean;
  /** Entries that were malformed. */
  readonly dropped: number;
  /** When the registry said so. */
  readonly learnedAt: number;
  /** The registry could not be asked; this is what it said earlier. */
  readonly stale?: string;
}
