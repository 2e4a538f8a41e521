import type { JsonObject } from '../../kernel/json.js';

/** A saved call, to make it again (STUDIO-5). */
export interface SavedCall {
  readonly id: string;
  readonly name: string;
  readonly server: string;
  readonly tool: string;
  readonly arguments: JsonObject;
  /** Wall-clock. */
  readonly savedAt: number;
}

/** A call that is to be kept. */
export type NewSavedCall = Pick<SavedCall, 'name' | 'server' | 'tool' | 'arguments'>;

/** A query with the tool that was meant, as `toolscout eval` reads it (STUDIO-4). */
export interface Label {
  readonly id: string;
  readonly query: string;
  readonly relevant: readonly string[];
}

/** The file with labelled queries; `app/` hands it in. */
export interface LabelFile {
  readonly path: string;
  append(label: Label): Promise<void>;
  /** All lines that can be read; a broken one does not hide the others. */
  read(): Promise<readonly Label[]>;
}

/** What people save: labelled queries for all, calls for themselves. */
export interface SavedVerbs {
  /** Appends a labelled query to the file. */
  addLabel(label: { readonly query: string; readonly server: string; readonly tool: string }): Promise<Label>;
  labels(): Promise<{ readonly file: string; readonly labels: readonly Label[] }>;
  /** The calls that the viewer keeps, newest first; those of others are not there. */
  savedCalls(): Promise<SavedCall[]>;
  saveCalls(calls: readonly NewSavedCall[]): Promise<SavedCall[]>;
  /** Answers whether there was one. */
  removeSavedCall(id: string): Promise<boolean>;
}
