import type * as z from 'zod';
import type { Gateway } from '../../gateway/index.js';
import type { Principal, Scope } from '../../model/principal.js';
import type { Answer, Received } from '../../net/http-message.js';
import type { Address } from './dispatch/find-route.js';

/** Routes that belong together, for an app that mounts only some of them (REG-10). */
export type RouteGroup = 'registry' | 'tools' | 'calls' | 'skills' | 'admin' | 'publish' | 'status' | 'studio';

/** How an answer is made; every one of them carries the trace id. */
export type Reply = (
  body: unknown,
  options?: {
    readonly status?: number;
    readonly type?: string;
    readonly headers?: Readonly<Record<string, string>>;
  },
) => Response;

/** A request that was let in, its parts checked. */
export interface RouteInput<Params, Query, Body> {
  readonly request: Request;
  /** The same request as it was received, for a handler that reads little of it. */
  readonly received: Received;
  readonly address: Address;
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly principal: Principal;
  /** Shows and runs only what the principal may see. */
  readonly gateway: Gateway;
  readonly traceId: string;
  readonly reply: Reply;
}

/** One documented answer: a schema for each content type, or none for an answer without a body. */
export interface DocumentedResponse {
  readonly description: string;
  readonly content?: Readonly<Record<string, z.ZodType>>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is asked, who may ask and what may come back: all that the document of the API tells of an operation. */
export interface DocumentedOperation {
  readonly id: string;
  readonly group: RouteGroup | 'mcp';
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** With `{name}` for what varies. */
  readonly path: string;
  readonly summary: string;
  /** The scope that the caller needs; absent for a public route. */
  readonly scope?: Scope;
  /** Pages of any origin may read it, where every request brings a key of its own. */
  readonly cors?: boolean;
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
  /** By status; `5XX` stands for all of them. Failures that every route has are added to these. */
  readonly responses: Readonly<Record<string, DocumentedResponse>>;
}

/** One route: an operation and who answers. Documents and checks are made of this. */
export interface Route extends DocumentedOperation {
  /** About all servers at once: nothing for a caller who may see only some of them. */
  readonly whole?: boolean;
  /** A health check: under a `Host` that is not ours it answers with its status alone. */
  readonly isProbe?: boolean;
  /** Its handler reads the body itself and may answer for as long as it wants. */
  readonly isRaw?: boolean;
  handle(input: RouteInput<never, never, never>): Answer | Promise<Answer>;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** A route whose handler is typed by its own schemas. */
export function route<
  const Params extends z.ZodObject | undefined = undefined,
  const Query extends z.ZodObject | undefined = undefined,
  const Body extends z.ZodType | undefined = undefined,
>(
  definition: Omit<Route, 'params' | 'query' | 'body' | 'handle'> & {
    readonly params?: Params;
    readonly query?: Query;
    readonly body?: Body;
    handle(input: RouteInput<Parsed<Params>, Parsed<Query>, Parsed<Body>>): Answer | Promise<Answer>;
  },
): Route {
  return definition as unknown as Route;
}
