import type { PipelineDeps } from './pipeline.js';

/** The connections on which a list was seen to be old. */
export type ListConnections = Pick<PipelineDeps, 'announcedOn' | 'calledOn'>;

/** Remembers, for each server, on which connections its list was seen to be old: they are there to be asked. */
export interface OldLists {
  /** The server announced a change on this connection. */
  noteAnnounced(server: string, connection: string): void;
  /** The server is called on this connection. */
  noteCalled(server: string, connection: string): void;
  /** Whether a change was announced that was not looked at yet. */
  isAnnounced(server: string): boolean;
  /** The connections of a server; each is handed out once. */
  take(server: string): ListConnections;
  /** Takes them back: the list was not read there, and must be the next time. */
  giveBack(server: string, connections: ListConnections): void;
}

/** Nothing is known to be old at first. */
export function createOldLists(): OldLists {
  const announced = new Map<string, string>();
  const called = new Map<string, string>();
  return {
    noteAnnounced: (id, connection) => void announced.set(id, connection),
    noteCalled: (id, connection) => void called.set(id, connection),
    isAnnounced: (id) => announced.has(id),
    take(id) {
      const announcedOn = announced.get(id);
      const calledOn = called.get(id);
      announced.delete(id);
      called.delete(id);
      return { ...(announcedOn !== undefined && { announcedOn }), ...(calledOn !== undefined && { calledOn }) };
    },
    giveBack(id, { announcedOn, calledOn }) {
      if (announcedOn !== undefined && !announced.has(id)) announced.set(id, announcedOn);
      if (calledOn !== undefined && !called.has(id)) called.set(id, calledOn);
    },
  };
}
