import {
  presentationOf,
  seenItems,
  type ApprovalPolicy,
  type Approvals,
  type PreviousList,
} from '../approvals/index.js';
import type { LoadedConfig } from '../config/index.js';
import type { Pool } from '../connect/index.js';
import type { Emitter } from '../kernel/async/emitter.js';
import { messageOf } from '../kernel/errors.js';
import { hashJson } from '../kernel/hash.js';
import type { Log } from '../kernel/log.js';
import type { Approval } from '../model/approval.js';
import type { Server } from '../model/server.js';
import type { Tool } from '../model/tool.js';
import { presented, type Catalog, type LearnedList } from './catalog.js';
import type { CatalogEvent } from './events.js';
import { isUsable } from './catalog.js';

/** Keeps the catalog and the approvals in step (SEC-9). */
export interface Trust {
  /** Records what a server has just listed, before any of it can be used. */
  admit(server: Server, list: LearnedList, tools: readonly Tool[]): Promise<void>;
  /** Notes a list that was known before and is in the catalog already. */
  admitKnown(server: Server, list: LearnedList, tools: readonly Tool[]): Promise<void>;
  /** Reads what is trusted and asks for the servers that are not. */
  open(): Promise<void>;
  /** Notes everything the catalog in force shows: tools to pin, servers and tools to ask for. */
  admitAll(): Promise<void>;
  /** Judges servers again after a decision about them; one that became usable is learned. */
  reconsider(servers: Iterable<string>): void;
  /** Ends the connections of servers that are gone or may not be used. */
  retainAllowed(): void;
}

/** What keeping in step needs of the core. */
export interface TrustDeps {
  readonly approvals: Approvals;
  readonly pool: Pool;
  readonly log: Log;
  readonly events: Pick<Emitter<CatalogEvent>, 'emit'>;
  readonly hide: (text: string) => string;
  /** The state in force at the moment of asking. */
  readonly loaded: () => LoadedConfig;
  readonly catalog: () => Catalog;
  readonly learnInBackground: (servers: readonly Server[]) => void;
}

/** The trust over a core's state. */
export function createTrust(deps: TrustDeps): Trust {
  const { approvals, catalog, events, hide, loaded, log, pool } = deps;
  const policy = (): ApprovalPolicy => loaded().config.approval;

  const announce = (made: readonly Approval[]): void => {
    for (const approval of made) {
      const { ref, about, risk } = approval;
      log.warn('approvals.requested', { ref, about, risk: risk.level });
      events.emit({ type: 'approval', approval });
    }
  };
  /** The list in force, while the next one is taken in; read only when something of it changed. */
  const previousOf = (server: Server): (() => PreviousList | undefined) => {
    const list = catalog().list(server.id);
    let known: PreviousList | undefined;
    return () => {
      if (!list || known) return known;
      const presentation = presented(list);
      const items = [...catalog().index.tools(server.id), ...seenItems(list)];
      known = {
        at: list.learnedAt,
        ...(!presentation.isUnknown && { presentation: hashJson(presentationOf(presentation)) }),
        hashes: new Map(items.map(({ name, hash }) => [name, hash])),
      };
      return known;
    };
  };
  const take = async (server: Server, list: LearnedList, tools: readonly Tool[], fresh: boolean): Promise<void> => {
    // What was guessed is no word of the server's, so it is nothing to hold the server to.
    const listed = tools.filter(({ provenance }) => provenance === 'protocol');
    if (listed.length === 0 && list.rung !== undefined) return;
    announce(
      await approvals.admit(
        server,
        { ...presented(list), tools: [...listed, ...seenItems(list)] },
        { policy: policy(), fresh, ...(fresh && { previous: previousOf(server) }) },
      ),
    );
  };

  const request = async (): Promise<void> => {
    const held = loaded().servers.filter((server) => server.enabled && catalog().hold(server.id));
    try {
      announce(await approvals.request(held, policy()));
    } catch (thrown) {
      // They stay held; only the request is not kept.
      log.error('approvals.unsaved', { reason: hide(messageOf(thrown)) });
    }
  };

  const admitKnown: Trust['admitKnown'] = async (server, list, tools) => {
    await take(server, list, tools, false);
    // Another process may have pinned something else while this list was put into the catalog.
    const judgement = approvals.judge(server, presented(list), policy());
    const holds = (tool: Tool): boolean =>
      tool.provenance !== 'protocol' || tool.status === 'disabled' || judgement.judge(tool).status === tool.status;
    if (!tools.every(holds)) catalog().reconsider(server.id);
  };

  const retainAllowed = (): void => pool.retain(loaded().servers.filter(({ id }) => !catalog().hold(id)));

  return {
    admit: (server, list, tools) => take(server, list, tools, true),
    admitKnown,
    async open() {
      await approvals.load();
      const doubt = approvals.doubt();
      if (doubt) log.warn('store.not-accepted', { reason: doubt.reason, next: 'toolscout store accept' });
      for (const id of catalog().servers.keys()) catalog().reconsider(id);
      await request();
    },
    async admitAll() {
      await request();
      for (const server of loaded().servers) {
        const list = catalog().list(server.id);
        if (list) await admitKnown(server, list, catalog().index.tools(server.id));
      }
    },
    reconsider(ids) {
      const opened: Server[] = [];
      let isHeld = false;
      for (const id of ids) {
        if (catalog().reconsider(id)) opened.push(catalog().server(id));
        isHeld ||= catalog().hold(id) !== undefined;
        events.emit({ type: 'reconsidered', server: id });
      }
      if (isHeld) retainAllowed();
      deps.learnInBackground(opened.filter(isUsable));
    },
    retainAllowed,
  };
}
