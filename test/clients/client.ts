/** How a client reaches toolscout. */
export const TRANSPORTS = ['stdio', 'http'] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** What toolscout offers it. */
export const MODES = ['meta', 'passthrough'] as const;
export type Mode = (typeof MODES)[number];

/** One client, one transport, one mode: what its process is started with. */
export interface CellInput {
  readonly transport: Transport;
  readonly mode: Mode;
  /** An empty folder: home and working directory. */
  readonly home: string;
  /** The folder in whose node_modules the client is installed. */
  readonly installed: string;
  /** The Node.js the client runs on. */
  readonly node: string;
  /** How toolscout is started over stdio. */
  readonly command: string;
  readonly args: readonly string[];
  /** Where it listens over HTTP. */
  readonly url: string;
  /** The model stub; agents only. */
  readonly modelUrl: string;
}

/** A process to start. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A client of other people. */
export interface Client {
  readonly name: string;
  /** Exact versions by package; the first one is the client itself. */
  readonly packages: Readonly<Record<string, string>>;
  /** The Node.js version it needs, if not the one that runs the matrix. */
  readonly node?: '22' | '24';
  /** A library is driven by a script and reports itself; an agent is driven by the model stub. */
  readonly kind: 'library' | 'agent';
  readonly transports?: readonly Transport[];
  readonly modes?: readonly Mode[];
  /** Its model sees only the tools that a search of its own found, not even the names of the others. */
  readonly hidesTools?: boolean;
  /** Prepares the home folder and says what to start. */
  launch(cell: CellInput): Promise<Launch>;
  /** Installs the client where it does not come from npm, or says why it cannot run here. */
  install?(): Promise<{ readonly folder: string } | { readonly skip: string }>;
}
