import type { SessionVerbs } from '../contract/sessions.js';
import { defineVerbs, type VerbTable } from './define-verbs.js';

/** The verbs of the facet `sessions`. */
export function sessionVerbs(sessions: SessionVerbs): VerbTable<`sessions.${keyof SessionVerbs}`> {
  return defineVerbs({
    'sessions.open': (_viewer, session) => sessions.open(session),
    'sessions.find': (_viewer, token) => sessions.find(token),
    'sessions.end': (_viewer, token) => sessions.end(token),
    'sessions.isLive': (_viewer, id) => sessions.isLive(id),
    'sessions.onEnd': (_viewer, listener) => sessions.onEnd(listener),
    'sessions.issueTicket': (_viewer, kind, value, lifetimeMs) => sessions.issueTicket(kind, value, lifetimeMs),
    'sessions.takeTicket': (_viewer, kind, ticket) => sessions.takeTicket(kind, ticket),
  });
}
