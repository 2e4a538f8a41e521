/** The address of a request; taken apart only where it must be. */
export interface Address {
  readonly url: URL;
  readonly path: string;
  /** There is nothing but a path. */
  readonly isBare: boolean;
}

/** Plain paths need no parser: nothing in them is escaped, doubled or climbs. */
const PLAIN = /^https?:\/\/[\w.:[\]-]+((?:\/[\w-][\w.-]*)+)$/;

/** The address of a request. */
export function createAddress(text: string): Address {
  let parsed: URL | undefined;
  const url = (): URL => (parsed ??= new URL(text));
  const plain = PLAIN.exec(text)?.[1];
  return {
    get url() {
      return url();
    },
    path: plain ?? url().pathname,
    isBare: plain !== undefined || url().search === '',
  };
}
