import type { Clock } from '../kernel/clock.js';
import { createEmitter } from '../kernel/async/emitter.js';
import { messageOf, toToolscoutError, type ErrorCode } from '../kernel/errors.js';
import { addressOf, newIdAt } from '../kernel/ids.js';
import { isObject, type JsonObject, type JsonValue } from '../kernel/json.js';
import type { Log } from '../kernel/log.js';
import { estimateJsonTokens, estimateReadTokens } from '../kernel/tokens.js';
import type { AuditRecord } from '../model/audit-record.js';
import type { Call } from '../model/call.js';
import type { Host } from '../model/host.js';
import type { Server } from '../model/server.js';
import type { Payload, TrafficRow } from '../model/traffic.js';
import type { Requester, ServerRequest } from '../model/upstream.js';
import { shownRow, type Child, type Row, type Writable } from './traffic-row.js';

/** Rows kept while the traffic is watched; `traffic.keep` may be more. */
const ROWS = 1000;
/** Children of one row; a server that reports progress all day has more. */
const CHILDREN = 200;
/** Characters of one payload, and of all payloads together. */
const PAYLOAD = 32 * 1024;
const ALL_PAYLOADS = 32 * 1024 * 1024;

/** A shorter wait is not one for a connection. */
const MIN_CONNECT_MS = 1;

/** What a request of a host is known by. */
export interface TrafficRequest {
  readonly method: string;
  readonly params: JsonObject;
  /** The tool that it runs, as `server:tool`, where that is known from the beginning. */
  readonly tool?: string;
  readonly principal: string;
  readonly route: string;
  readonly host?: TrafficRow['host'];
  readonly traceId?: string;
}

/** A request that is being answered. */
export interface OpenRow {
  /** The same host, whose questions and notices are noted; calls made with it belong to this row. */
  watch(host: Host): Host;
  succeed(result: JsonObject): void;
  fail(thrown: unknown): void;
}

/** The messages between hosts, toolscout and servers, recorded only on demand (STUDIO-3). */
export interface Traffic {
  /** Whether anything is recorded: this check is the only cost while the traffic is not watched. */
  readonly isOn: boolean;
  begin(request: TrafficRequest): OpenRow;
  /** Names the tool of a call in the row of its host. A call that comes from no host of ours gets a row of its own, which is the answer. */
  attach(call: Call): OpenRow | undefined;
  /** Sends a request to a server, noted under the row of its host. */
  send(
    server: Server,
    request: ServerRequest,
    requester: Requester,
    send: (server: Server, request: ServerRequest, requester: Requester) => Promise<JsonObject>,
  ): Promise<JsonObject>;
  /** Notes in the row of a request what the audit log says of it. */
  note(requester: Requester, entry: Pick<AuditRecord, 'outcome' | 'code' | 'askedMs'>): void;
  /** The rows in memory, oldest first. */
  rows(): readonly TrafficRow[];
  /** Calls the listener for every new or changed row. Recording goes on until the returned function is called. */
  follow(listener: (row: TrafficRow) => void): () => void;
  /** The number of rows kept while the traffic is not watched. */
  keep(rows: number): void;
}

const ROW = Symbol('row');

/** The name under which a host asks for something. */
function nameIn({ name, uri }: JsonObject): string | undefined {
  const found = name ?? uri;
  return typeof found === 'string' ? found : undefined;
}

/** A recorder of traffic. `redact` takes out what must not be shown. */
export function createTraffic(deps: {
  readonly clock: Clock;
  readonly log: Log;
  readonly redact: (value: JsonValue, server?: string) => JsonValue;
  /** What rules take out of the results of a server. */
  readonly incoming: (server: string, result: JsonObject) => JsonObject;
}): Traffic {
  const { clock, log } = deps;
  const changed = createEmitter<TrafficRow>((thrown) => log.error('traffic.listener', { error: messageOf(thrown) }));
  const rowOf = new WeakMap<Host, Row>();
  const openRows = new WeakMap<OpenRow, Row>();
  let rows: Row[] = [];
  let size = 0;
  let watchers = 0;
  let kept = 0;

  const payloadOf = (value: JsonValue, row: Row, server?: string): Payload => {
    let bytes = 0;
    let json = '';
    try {
      bytes = Buffer.byteLength(JSON.stringify(value));
      json = JSON.stringify(deps.redact(value, server));
    } catch (thrown) {
      // What nests too deep for JSON is no reason to fail a call.
      json = JSON.stringify(`cannot be shown: ${messageOf(thrown)}`);
    }
    const isCut = json.length > PAYLOAD;
    const text = isCut ? json.slice(0, PAYLOAD) : json;
    if (!row.isGone) {
      row.size += text.length;
      size += text.length;
    }
    return { json: text, bytes, ...(isCut && { cut: true as const }) };
  };

  const limit = (): number => (watchers > 0 ? Math.max(ROWS, kept) : kept);

  const prune = (): void => {
    let surplus = 0;
    while (rows.length - surplus > limit() || (size > ALL_PAYLOADS && surplus < rows.length - 1)) {
      rows[surplus]!.isGone = true;
      size -= rows[surplus]!.size;
      surplus += 1;
    }
    if (surplus > 0) rows = rows.slice(surplus);
  };

  const settle = (): void => {
    traffic.isOn = watchers > 0 || kept > 0;
    prune();
    if (rows.length === 0) size = 0;
  };

  const since = (row: Row): number => Math.round((clock.monotonic() - row.started) * 1000) / 1000;

  const addChild = (row: Row, child: Omit<Child, 'startMs'>): Child => {
    const made: Child = { ...child, startMs: since(row) };
    if (row.children.length < CHILDREN) row.children.push(made);
    else row.dropped += 1;
    return made;
  };

  const tell = (row: Row): void => {
    prune();
    if (watchers > 0) changed.emit(shownRow(row));
  };

  const end = (row: Row, child: Child, outcome: 'success' | 'failure', thrown?: unknown): void => {
    child.endMs = since(row);
    child.outcome = outcome;
    if (thrown !== undefined) child.code = toToolscoutError(thrown).code;
  };

  /** A question to a host, and its answer. */
  const ask = async (row: Row, host: Host, ...[method, params, options]: Parameters<Host['request']>) => {
    const request = payloadOf(params ?? {}, row);
    const from = options?.confirms ? 'toolscout' : 'server';
    const child = addChild(row, { kind: 'callback', from, method, request });
    if (row.asking === 0) row.askingSince = child.startMs;
    row.asking += 1;
    tell(row);
    try {
      const answer = await host.request(method, params, options);
      child.response = payloadOf(answer, row);
      end(row, child, 'success');
      return answer;
    } catch (thrown) {
      child.response = payloadOf({ error: messageOf(thrown) }, row);
      end(row, child, 'failure', thrown);
      throw thrown;
    } finally {
      row.asking -= 1;
      if (row.asking === 0 && row.askingSince !== undefined)
        row.askedMs = (row.askedMs ?? 0) + since(row) - row.askingSince;
      tell(row);
    }
  };

  const noteNotice = (row: Row, method: string, params: JsonObject | undefined): void => {
    // Progress is noted where the server says it.
    if (method === 'notifications/progress') return;
    addChild(row, { kind: 'notice', from: 'server', method, request: payloadOf(params ?? {}, row) });
    tell(row);
  };

  const rowFor = (requester: Requester): Row | undefined =>
    (requester as { readonly [ROW]?: Row })[ROW] ?? (requester.host && rowOf.get(requester.host));

  const finish = (row: Row, given: 'success' | 'failure', response: JsonValue, code?: ErrorCode): void => {
    row.state = row.held ?? given;
    row.ms = since(row);
    if (code !== undefined) row.code = code;
    row.response = payloadOf(response, row);
    tell(row);
  };

  const traffic: Writable<Traffic> = {
    isOn: false,

    begin({ method, params, tool, principal, route, host, traceId }) {
      const at = clock.now();
      const args = isObject(params['arguments']) ? params['arguments'] : params;
      const name = nameIn(params);
      const row: Row = {
        id: newIdAt(at),
        at,
        started: clock.monotonic(),
        size: 0,
        asking: 0,
        askingSince: undefined,
        held: undefined,
        isGone: false,
        principal,
        route,
        ...(host && { host }),
        method,
        ...(name !== undefined && { name }),
        ...(tool !== undefined && { tool }),
        ...(traceId !== undefined && { traceId }),
        servers: [],
        state: 'open',
        tokens: { arguments: estimateJsonTokens(args), returned: 0 },
        request: { json: '', bytes: 0 },
        children: [],
        dropped: 0,
      };
      row.request = payloadOf(params, row);
      rows.push(row);
      tell(row);
      const opened: OpenRow = {
        watch(real) {
          // All other members are read from the real host, so that its later changes are seen.
          const watched = Object.create(real, {
            request: { value: (...asked: Parameters<Host['request']>) => ask(row, real, ...asked) },
            notify: {
              value: (...told: Parameters<Host['notify']>) => {
                noteNotice(row, ...told);
                real.notify(...told);
              },
            },
          }) as Host;
          rowOf.set(watched, row);
          return watched;
        },
        succeed(result) {
          row.tokens = { ...row.tokens, returned: estimateReadTokens(result) };
          finish(row, result['isError'] === true ? 'failure' : 'success', result);
        },
        fail(thrown) {
          const { code, message } = toToolscoutError(thrown);
          const told = { error: message };
          row.tokens = { ...row.tokens, returned: estimateJsonTokens(told) };
          finish(row, 'failure', told, code);
        },
      };
      openRows.set(opened, row);
      return opened;
    },

    attach(call) {
      const { server, tool, arguments: args, principal, route, traceId } = call;
      const address = addressOf(server, tool);
      const known = call.host && rowOf.get(call.host);
      // Also of a call that is refused before anything is sent.
      if (known) {
        known.tool = address;
        return undefined;
      }
      const opened = traffic.begin({
        method: 'tools/call',
        params: { name: address, arguments: args },
        tool: address,
        principal,
        route,
        ...(call.hostName && { host: { name: call.hostName } }),
        ...(traceId !== undefined && { traceId }),
      });
      // A call is copied on its way; what stands in it under a symbol goes along.
      Object.assign(call, {
        [ROW]: openRows.get(opened),
        ...(call.host && { host: opened.watch(call.host) }),
      });
      return opened;
    },

    async send(server, request, requester, send) {
      const row = rowFor(requester);
      if (!row) return send(server, request, requester);
      const { id } = server;
      const { method, params } = request;
      const child = addChild(row, {
        kind: 'upstream',
        from: 'toolscout',
        server: id,
        method,
        request: payloadOf(params, row, id),
      });
      if (!row.servers.includes(id)) row.servers.push(id);
      const tool = method === 'tools/call' ? nameIn(params) : undefined;
      if (tool !== undefined) row.tool = addressOf(id, tool);
      tell(row);
      const say = (kind: Child['kind'], from: Child['from'], told: JsonObject): void => {
        addChild(row, { kind, from, server: id, method: kind, request: payloadOf(told, row, id) });
        tell(row);
      };
      let connectingSince: number | undefined;
      const noteConnected = (outcome: 'success' | 'failure'): void => {
        const startMs = connectingSince;
        connectingSince = undefined;
        if (startMs === undefined || since(row) - startMs < MIN_CONNECT_MS) return;
        const wait = addChild(row, { kind: 'connect', from: 'toolscout', server: id, method: 'connect' });
        wait.startMs = startMs;
        end(row, wait, outcome);
      };
      const watched: ServerRequest = {
        ...request,
        onProgress(progress) {
          say('progress', 'server', { ...progress });
          request.onProgress?.(progress);
        },
        onWaited(ms) {
          say('wait', 'toolscout', { ms });
          request.onWaited?.(ms);
        },
        onAttempt(attempt) {
          noteConnected('failure');
          if (attempt > 0) say('retry', 'toolscout', { attempt });
          connectingSince = since(row);
          request.onAttempt?.(attempt);
        },
        onConnected(upstream) {
          noteConnected('success');
          request.onConnected?.(upstream);
        },
        onAsking(isOpen, worked) {
          if (worked) row.askingSince = isOpen ? since(row) : undefined;
          request.onAsking?.(isOpen, worked);
        },
        onUnasked(asked) {
          say('unasked', 'server', { method: asked });
          request.onUnasked?.(asked);
        },
      };
      try {
        const result = await send(server, watched, requester);
        child.response = payloadOf(deps.incoming(id, result), row, id);
        end(row, child, result['isError'] === true ? 'failure' : 'success');
        return result;
      } catch (thrown) {
        noteConnected('failure');
        child.response = payloadOf({ error: messageOf(thrown) }, row, id);
        end(row, child, 'failure', thrown);
        throw thrown;
      } finally {
        tell(row);
      }
    },

    note(requester, { outcome, code, askedMs = 0 }) {
      const row = rowFor(requester);
      if (!row) return;
      row.held = outcome === 'refused' || outcome === 'waiting' ? outcome : undefined;
      if (code !== undefined) row.code = code;
      // A webhook is asked for a confirmation without the host, and the call may end before its question does.
      if (askedMs <= (row.askedMs ?? 0)) return;
      row.askedMs = askedMs;
      if (row.asking > 0) row.askingSince = since(row);
    },

    rows: () => rows.map(shownRow),

    follow(listener) {
      watchers += 1;
      settle();
      const stop = changed.on(listener);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        stop();
        watchers -= 1;
        settle();
      };
    },

    keep(count) {
      kept = count;
      settle();
    },
  };
  return traffic;
}
