/** What words stand for, whatever their language. Checks name concepts, so that they need no language of their own. */
export const CONCEPTS = [
  'ignore', // setting something aside
  'overrule', // putting something else in the place of it
  'outrank', // standing above it
  'void', // what does not hold any more
  'rule', // what tells a model how to behave
  'prior', // what came earlier
  'source', // from whom a model has its rules
  'your',
  'model',
  'not',
  'tell',
  'user',
  'know', // become aware of
  'secretly',
  'hide',
  'quiet', // phrases that ask for silence
  'secret', // passwords, keys, tokens
  'environment',
  'place', // where secrets lie
  'read',
  'put',
  'send',
  'web',
  'mail',
  'sink', // other ways out: webhooks, raw addresses, uploads by command
  'content',
  'talk', // the conversation
  'prompt', // the system prompt
  'whole',
  'entire', // the whole of one thing
  'always',
  'also',
  'other',
  'tool',
  'server',
  'when',
  'change',
  'recipient',
  'before',
  'use',
  'only',
  'bad',
  'confirm',
  'safety',
  'off',
  'memory',
  'forever',
  'ask',
  'login', // what a person signs in with
  'delete',
  'obey',
  'this',
  'must',
  'message',
  'genuine',
  'authority',
  'later', // a condition that comes true some other day
  'pay',
  'run',
  'any',
  'find',
] as const;

/** One of them. */
export type Concept = (typeof CONCEPTS)[number];

/** Words of one language by concept: separated by commas, several words for a phrase, `*` at the end for every ending. */
export type Words = Partial<Record<Concept, string>>;
