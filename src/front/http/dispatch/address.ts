/** Plain paths need no parser: nothing in them is escaped, doubled or climbs. */
const PLAIN = /^https?:\/\/[\w.:[\]-]+((?:\/[\w-][\w.-]*)+)$/;

/** The address of a request; taken apart only where it must be. */
export class Address {
  readonly path: string;
  /** There is nothing but a path. */
  readonly isBare: boolean;
  readonly #text: string;
  #url: URL | undefined;

  constructor(text: string) {
    this.#text = text;
    const plain = PLAIN.exec(text)?.[1];
    this.path = plain ?? this.url.pathname;
    this.isBare = plain !== undefined || this.url.search === '';
  }

  get url(): URL {
    return (this.#url ??= new URL(this.#text));
  }
}
