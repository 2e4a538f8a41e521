declare module 'oidc-provider' {
  import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

  /** The parts of the package that the tests use; it has no types of its own. */
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    interactionDetails(request: IncomingMessage, response: ServerResponse): Promise<Interaction>;
    interactionFinished(request: IncomingMessage, response: ServerResponse, result: object): Promise<void>;
    readonly Grant: new (fields: object) => Grant;
  }

  /** What a person is asked for. */
  export interface Interaction {
    readonly prompt: { readonly name: string };
    readonly params: { readonly client_id: string; readonly scope?: string; readonly resource?: string };
  }

  /** What a person allowed. */
  export interface Grant {
    addOIDCScope(scope: string): void;
    addResourceScope(resource: string, scope: string): void;
    save(): Promise<string>;
  }
}
