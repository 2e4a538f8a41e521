import type { TrafficChild, TrafficRow } from '../model/traffic.js';

/** A type whose fields can be set. */
export type Writable<T> = { -readonly [Field in keyof T]: T[Field] };
/** A part of a row while it goes on. */
export type Child = Writable<TrafficChild>;

/** A row while it is recorded. */
export interface Row extends Writable<TrafficRow> {
  servers: string[];
  children: Child[];
  readonly started: number;
  size: number;
  /** Questions to the host that are open, and since when the server waits for an answer. */
  asking: number;
  askingSince: number | undefined;
  /** What the record of its call says, where toolscout did not let the call through. */
  held: 'refused' | 'waiting' | undefined;
  /** It was pushed out of the memory. */
  isGone: boolean;
}

/** A row as others get it: a copy, since it goes on changing. */
export function shownRow(row: Row): TrafficRow {
  const { started: _started, size: _size, isGone: _isGone, held: _held, ...rest } = row;
  const { asking: _asking, askingSince: _askingSince, ...told } = rest;
  return { ...told, servers: [...row.servers], children: row.children.map((child) => ({ ...child })) };
}
