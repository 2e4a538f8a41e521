import type { Transport } from '@modelcontextprotocol/server';
import { messageOf } from '../../kernel/errors.js';
import type { JsonObject } from '../../kernel/json.js';
import { withHostLane, type HostLane } from './host-lane.js';
import type { LegacySession } from './legacy-session.js';
import { createMetaOffer } from './meta-offer.js';
import { createModernHosts, type ModernHosts } from './modern.js';
import type { Offer } from './offer.js';
import type { FrontDeps } from './server.js';

/** What the stdio and the HTTP front share: who is offered what, and who is connected. */
export interface McpFront {
  readonly modern: ModernHosts;
  /** What a host that introduces itself so is offered. */
  offerFor(introduction: JsonObject): Offer;
  /** A transport on which the 2025-era host behind `wire` is answered. */
  laneFor(wire: Transport, options: { readonly principal: string; readonly sessionId: () => string }): HostLane;
  close(): void;
}

/** A front over the gateway. */
export function createFront(deps: FrontDeps): McpFront {
  const { gateway, log, clock } = deps;
  const sessions = new Set<LegacySession>();
  const modern = createModernHosts({
    clock,
    onLost: (thrown) => log.debug('mcp.notification-lost', { error: messageOf(thrown) }),
  });
  const offerFor = (_introduction: JsonObject): Offer => createMetaOffer(gateway, { ...deps.info });

  return {
    modern,
    offerFor,
    laneFor(wire, { principal, sessionId }) {
      return withHostLane(wire, {
        log,
        principal,
        sessionId,
        offer: offerFor,
        onOpen: (session) => sessions.add(session),
        onLogLevel: (session) => void gateway.setLogLevel(session.host),
        onNotification(session, method, params) {
          if (method === 'notifications/roots/list_changed') gateway.tellServers(session.host, method, params);
        },
        onClose(session) {
          sessions.delete(session);
          gateway.releaseHost(session.host);
        },
      });
    },
    close() {
      modern.close();
    },
  };
}
