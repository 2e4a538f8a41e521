/** Which server gave which link in an answer (A52). */
export interface GivenLinks {
  /** Answers whether this is news. */
  note(server: string, uri: string): boolean;
  /** Whether a server gave this link. */
  has(uri: string): boolean;
  /** The server that gave it; `undefined` where several did. */
  giverOf(uri: string): string | undefined;
}

/** Links that are remembered; then the oldest of the server that gave most gives way, so that no server has the links of another forgotten. */
const MAX_LINKS = 4096;

interface Link {
  /** Who gave it first. */
  readonly giver: string;
  readonly isShared: boolean;
}

/** Remembers links for the hosts of one front. */
export function createGivenLinks(): GivenLinks {
  const links = new Map<string, Link>();
  /** The links of each server, the oldest first. */
  const given = new Map<string, Set<string>>();

  const makeRoom = (): void => {
    let most: Set<string> | undefined;
    for (const own of given.values()) if (own.size > (most?.size ?? 0)) most = own;
    const [oldest] = most ?? [];
    if (oldest === undefined) return;
    most!.delete(oldest);
    links.delete(oldest);
  };

  return {
    note(server, uri) {
      const known = links.get(uri);
      const giver = known?.giver ?? server;
      links.set(uri, { giver, isShared: known?.isShared === true || giver !== server });
      const own = given.get(giver) ?? new Set();
      given.set(giver, own);
      own.delete(uri);
      own.add(uri);
      if (links.size > MAX_LINKS) makeRoom();
      return !known || (giver !== server && !known.isShared);
    },
    has: (uri) => links.has(uri),
    giverOf(uri) {
      const link = links.get(uri);
      return link?.isShared === false ? link.giver : undefined;
    },
  };
}
