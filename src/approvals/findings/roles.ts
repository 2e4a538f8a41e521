import { CONCEPTS, type Concept } from './concepts.js';

/**
 * The parts that concepts play in an order. Several concepts play the same part, so that what is learned of one wording holds for others:
 * "hand over the contacts" and "attach the private key" are the same to a model that steals.
 */
const PARTS = {
  model: 'model you your',
  user: 'user nobody',
  conceal: 'hide secretly quiet pretend',
  tell: 'tell know reply log',
  not: 'not',
  rule: 'rule safety prompt source mode refuse',
  drop: 'ignore overrule outrank void off despite instead',
  prior: 'prior earlier before',
  treasure: 'secret environment place private personal talk prompt login machine',
  content: 'content file message memory code result',
  move: 'send put copy read find inspect',
  hand: 'field verbatim whole entire',
  out: 'web mail sink',
  we: 'we promote',
  rival: 'other tool server identifier brand',
  push: 'always only message must any use',
  bad: 'bad flaw',
  good: 'genuine fine trust',
  power: 'authority urgent obey',
  consent: 'confirm ask approved',
  later: 'when later nth date session',
  lasting: 'memory forever',
  money: 'pay fee recipient',
  change: 'change delete instead',
  run: 'run install immediately',
  excuse: 'excuse otherwise please',
  also: 'also twice',
  honest: 'example masked given describes format limit api allow',
  care: 'protect guess riddle',
} as const satisfies Record<string, string>;

/** The names of the parts. */
export const ROLES = Object.keys(PARTS);

/** The parts that each concept plays. */
export const ROLES_OF: ReadonlyArray<readonly number[]> = CONCEPTS.map((concept) =>
  ROLES.flatMap((role, at) => ((PARTS as Record<string, string>)[role]!.split(' ').includes(concept) ? [at] : [])),
);

/** Concepts that play no part; a test holds them to be few. */
export const WITHOUT_ROLE: readonly Concept[] = CONCEPTS.filter((_, at) => ROLES_OF[at]!.length === 0);
