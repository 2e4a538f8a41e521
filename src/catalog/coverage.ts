import { counted, mostTokens } from '../kernel/text.js';
import type { Server } from '../model/server.js';
import { primaryDomain } from '../normalize/index.js';
import { isUsable } from './catalog.js';

/** Tokens of the line, whatever the names are. */
const COVERAGE_TOKENS = 60;

/** What ` and 12 more` takes of them. */
const REST_TOKENS = 8;

/** What a plain word takes at the most; a test holds every word to it. */
const WORD_TOKENS = 2;

/** Words of server names that every tokenizer has as one token. Other words are counted at their worst case. */
export const PLAIN_WORDS: ReadonlySet<string> = new Set(
  (
    'airtable alerts algolia amazon analytics android ansible apache api app apple argo asana audio auth ' +
    'automation aws azure bash bigquery bitbucket blender blog book box brave browser bug build cache ' +
    'calendar cassandra chart chat chroma chrome circle clickhouse cloud cloudflare code command ' +
    'community confluence contacts context control crm crypto custom data database design desktop dev ' +
    'devops discord docker docs document drive dropbox elastic elasticsearch email enterprise etsy ' +
    'everything exa excel fetch figma file files filesystem finance firebase flight food forms game git ' +
    'github gitlab gmail google grafana graph graphql health helm home html http hubspot hugging image ' +
    'images incident inspector intercom internal jenkins jira kafka knowledge language launch ldap linear ' +
    'linkedin linux local log logs magic mail mailchimp map maps markdown market media memory messages ' +
    'metrics microsoft money mongo mongodb monitor music mysql neo neon netlify news notes notion ' +
    'observability office okta open openai openapi oracle outlook page pdf perplexity phone photo ' +
    'pinecone playwright podman postgres postgresql postman product project projects prometheus proxy ' +
    'puppeteer python query rabbitmq react reddit redis redshift remote report research resend rss ' +
    'salesforce screen script sdk search security selenium sentry sequential server service shell shop ' +
    'shopify slack snowflake social source spotify sql sqlite ssh stack stock storage store stripe studio ' +
    'supabase support swagger system task tasks tavily teams telegram terraform test text thinking time ' +
    'todo toolbox tools trello twilio twitter unity vault vector vercel video voice vscode wallet weather ' +
    'web webflow whatsapp wiki windows word wordpress workflow workspace youtube zapier zendesk zoom'
  ).split(' '),
);

/** A name with the comma before it; only letters take the space before them along. */
function costOf(domain: string): number {
  let cost = /^[a-z]/.test(domain) ? 1 : 2;
  for (const [run] of domain.matchAll(/[a-z]+|[^a-z]+/g)) {
    cost += PLAIN_WORDS.has(run) ? WORD_TOKENS : mostTokens(run);
  }
  return cost;
}

/**
 * One line that names what is behind toolscout (META-8). It depends on nothing but the set of
 * servers, so that its bytes, and a host's prompt cache, stay the same until that set changes.
 */
export function coverageOf(servers: Iterable<Server>): string {
  const domains = new Map<string, number>();
  for (const server of servers) {
    const domain = primaryDomain(server.id);
    if (isUsable(server)) domains.set(domain, costOf(domain));
  }
  // The cheap ones first: so most can be named, and one name without end hides no other.
  const byCost = [...domains].toSorted(([a, some], [b, other]) => some - other || (a < b ? -1 : 1));
  const all = byCost.reduce((sum, [, cost]) => sum + cost, 0);
  let left = all <= COVERAGE_TOKENS ? all : COVERAGE_TOKENS - REST_TOKENS;
  const fitting = byCost.filter(([, cost]) => (left -= cost) >= 0);
  const shown = fitting.map(([domain]) => domain).toSorted();
  const rest = domains.size - shown.length;
  if (rest === 0) return shown.join(', ');
  return shown.length === 0 ? counted(rest, 'server') : `${shown.join(', ')} and ${rest} more`;
}
