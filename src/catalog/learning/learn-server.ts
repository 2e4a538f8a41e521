import type { Emitter } from '../../kernel/async/emitter.js';
import { hideIn, toToolscoutError, type ToolscoutError } from '../../kernel/errors.js';
import type { Log } from '../../kernel/log.js';
import type { Server } from '../../model/server.js';
import type { Upstream } from '../../model/upstream.js';
import { changesBetween } from '../changes.js';
import { learn, type Learned, type PipelineDeps } from './pipeline.js';
import type { ListConnections, OldLists } from './list-connections.js';
import type { CatalogEvent } from '../events.js';

/** What learning a server and telling of it needs. */
export interface LearnAndTellDeps extends Omit<
  PipelineDeps,
  'announcedOn' | 'calledOn' | 'onPartial' | 'onDropped' | 'onListed'
> {
  readonly log: Log;
  readonly events: Pick<Emitter<CatalogEvent>, 'emit'>;
  /** Removes secrets from a text. */
  readonly hide: (text: string) => string;
  /** Throws the reason when a server may not be connected to. */
  readonly usable: (id: string) => Server;
  /** Told the connections on which the list was read, once it is taken over. */
  readonly noteListed: (upstream: Upstream) => void;
  /** The connections on which a server's list was seen to be old. */
  readonly oldLists: Pick<OldLists, 'take' | 'giveBack'>;
}

/** Learns one server through the pipeline, and reports it in the log and as an event. */
export async function learnServer(server: Server, deps: LearnAndTellDeps, signal: AbortSignal): Promise<Learned> {
  const { catalog, events, hide, log } = deps;
  const { id } = server;
  let connections: ListConnections = {};
  let isAsked = false;
  const noteFailure = ({ code, message }: ToolscoutError): void => {
    log.warn('discover.failed', { server: id, reason: message });
    const entry = { kind: 'discovered', principal: 'toolscout', server: id, outcome: 'failure', code } as const;
    if (isAsked) deps.audit.record({ ...entry, detail: { reason: message } });
  };
  try {
    deps.usable(id);
    const before = catalog().list(id);
    const onPartial: PipelineDeps['onPartial'] = (_, method, reason) =>
      log.info('discover.partial', { server: id, method, reason: hide(reason) });
    const onDropped: PipelineDeps['onDropped'] = (_, method, bad) =>
      log.warn('discover.dropped', { server: id, method, ...bad });
    connections = deps.oldLists.take(id);
    isAsked = true;
    const listed: Upstream[] = [];
    const onListed = (upstream: Upstream): void => void listed.push(upstream);
    const learned = await learn(server, { ...deps, ...connections, onPartial, onDropped, onListed }, signal);
    for (const upstream of listed) deps.noteListed(upstream);
    for (const bad of learned.dropped) log.warn('discover.dropped', { server: id, ...bad });
    const changed = changesBetween(before, catalog().list(id));
    events.emit({ type: 'learned', server: id, tools: learned.tools, changed });
    if (!learned.failure) return learned;
    const failure = hideIn(learned.failure, hide);
    noteFailure(failure);
    return { ...learned, failure };
  } catch (thrown) {
    deps.oldLists.giveBack(id, connections);
    const error = hideIn(toToolscoutError(thrown, 'TOOLS_LIST_FAILED'), hide);
    if (!signal.aborted) {
      noteFailure(error);
      events.emit({ type: 'learn-failed', server: id, reason: error.message });
    }
    throw error;
  }
}
