import type { ClientEnvironment } from '../config/resolve/client-environment.js';
import type { JsonObject } from '../kernel/json.js';
import type { SourceType } from '../model/config.js';
import type { ServerScope } from '../model/server.js';
import type { Imported } from '../model/source.js';
import type { Format } from '../config/read/find.js';

/** Where a client may keep servers. */
export interface SourcePath {
  readonly path: string;
  readonly scope: ServerScope;
  readonly format: SourceFormat;
  /** The path is a folder; its files with these endings count. */
  readonly endings?: readonly string[];
  /** What the file is for, where a client has several kinds. */
  readonly role?: 'permissions' | 'tools' | 'agent' | 'devcontainer' | 'local';
}

/** What client files are written in. */
export type SourceFormat = Extract<Format, 'jsonc' | 'yaml' | 'toml'>;

/** A file that was read; whatever it holds is not to be trusted. */
export interface SourceFile extends SourcePath {
  readonly data: unknown;
}

/** How toolscout is started or reached, to be written into a client's file. */
export type Launch =
  | { readonly type: 'stdio'; readonly command: string; readonly args: readonly string[] }
  | { readonly type: 'http'; readonly url: string };

/** How toolscout is written into the file of a client. */
export interface Installation {
  /** The file that is written; `undefined` when the client has none of that scope. */
  file(place: ClientEnvironment, scope: ServerScope): SourcePath | undefined;
  /** Where in the file servers stand. */
  readonly key: readonly string[];
  /** Servers are a list there, each with its name. */
  readonly list?: boolean;
  /** The entry; `undefined` when the client cannot use that transport. */
  entry(launch: Launch): JsonObject | undefined;
  /**
   * The client hides tools until its own search finds them, unless an entry has `alwaysLoad`. This is the name that it gives
   * in its handshake, by which it gets its mode.
   */
  readonly alwaysLoadsAs?: string;
  /** What a new file must hold besides. */
  readonly preamble?: JsonObject;
}

/** Everything that is known about one client: one file each in `importers/` (CFG-5). */
export interface Importer {
  readonly type: SourceType;
  /** Its name for people. */
  readonly title: string;
  /** Every file it may keep servers in. */
  locate(place: ClientEnvironment): SourcePath[];
  /** What the files say, in our own terms. Pure: the same files give the same answer. */
  read(files: readonly SourceFile[], place: ClientEnvironment): Imported;
  readonly installation?: Installation;
}
