import { plainOf, type Prepared } from './prepare.js';
import { readText } from './reading.js';
import type { Wording } from './wording.js';

/** Text of one parameter that may be a part of a sentence. */
interface Fragment {
  readonly text: string;
  /** What says where it stands in the sentence: "(2)", "Step B:", "3/4". */
  readonly mark?: string;
  /** It begins as no sentence does. */
  readonly isRest: boolean;
}

/** Fragments that are put together; a definition with more is a long schema. */
const MAX_FRAGMENTS = 10;
const MAX_LENGTH = 160;

const OF_PARAMETER = /^\/(?:input|output)Schema\/properties\//;
/** What a field is called, before what else is said in it: "Carrier code. (2) saved logins". */
const LABEL = /^[^.!?。:\n]{1,48}[.。]\s*(?=[^\s.])/u;
const MARK =
  /^[([]?(?:(?:step|part|teil|schritt|étape|etape|paso|passo|parte|шаг|часть|krok|langkah|adım)\s{0,2})?(\d{1,2}|[a-f])(?:\s{0,2}(?:\/|of)\s{0,2}\d{1,2})?[)\]:.]\s*/iu;
/** Words with which the rest of a sentence begins. */
const REST =
  /^(?:and|or|of|to|with|from|then|into|at|without|plus|along|including|which|whose|everything|every|et|avec|puis|sans|de|und|mit|dann|ohne|sowie|y|con|sin|luego|e|com|sem|então|poi|senza|и|с|затем|без|oraz|bez|ve|sonra|dan|lalu|tanpa|और|फिर)(?![\p{L}\p{N}])/u;

function fragmentsOf({ pieces }: Prepared): Fragment[] {
  const fragments: Fragment[] = [];
  for (const { path, role, text } of pieces) {
    if (!OF_PARAMETER.test(path) || role === 'key' || role === 'name') continue;
    const body = text.trim().replace(LABEL, '');
    const mark = MARK.exec(body);
    const rest = mark ? body.slice(mark[0].length) : body;
    if (rest.length < 2 || body.length > MAX_LENGTH) continue;
    const plain = plainOf(rest).replace(/[.;!?。]+\s*$/, '');
    fragments.push({ text: plain, isRest: REST.test(rest), ...(mark ? { mark: mark[1]!.toLowerCase() } : {}) });
    if (fragments.length >= MAX_FRAGMENTS) break;
  }
  return fragments;
}

/** Sentences that the texts of parameters give when they are read one after the other. The order of keys says nothing, so that every order counts (A12). */
function joinsOf(fragments: readonly Fragment[]): string[] {
  const joins: string[] = [];
  const marked = fragments.filter(({ mark }) => mark !== undefined);
  if (marked.length > 1) {
    const inOrder = marked.toSorted((a, b) => a.mark!.localeCompare(b.mark!, 'en', { numeric: true }));
    joins.push(inOrder.map(({ text }) => text).join(' '));
  }
  for (const rest of fragments) {
    if (!rest.isRest) continue;
    for (const first of fragments) if (first !== rest) joins.push(`${first.text} ${rest.text}`);
  }
  return joins;
}

/** How much the worst sentence that is split over parameters speaks for an order. */
export function worstJoin(prepared: Prepared, wording: Wording): number {
  return joinsOf(fragmentsOf(prepared)).reduce(
    (worst, join) => Math.max(worst, wording.worst(readText(join))),
    -Infinity,
  );
}
