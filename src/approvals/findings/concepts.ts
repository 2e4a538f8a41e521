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
  'you',
  'we', // who writes the text
  'reply', // what a model says to the user
  'result', // what a tool gives back
  'pretend',
  'field', // where a model puts something for a tool
  'file',
  'earlier', // all that was before now
  'instead',
  'despite', // whatever somebody says
  'link',
  'example',
  'masked', // what is kept safe
  'given', // by the user, or as an argument
  'wants', // what somebody asks for
  'identifier', // a name with underscores
  'fee',
  'code',
  'flaw',
  'fine', // safe, passed, in order
  'personal', // what is known of a person
  'nth',
  'date',
  'immediately',
  'approved',
  'nobody',
  'describes', // what a tool does, said of the tool
  'urgent',
  'please',
  'session',
  'excuse', // what something strange is said to be for
  'trust',
  'step',
  'private', // contacts, photos, the clipboard
  'install',
  'machine',
  'allow',
  'refuse',
  'mode',
  'brand',
  'copy',
  'verbatim',
  'log',
  'promote',
  'format', // how a value is written
  'limit',
  'api',
  'otherwise',
  'twice',
  'inspect',
  'protect', // what is good for the user
  'guess',
  'riddle', // what a game keeps from its players
] as const;

/** One of them. */
export type Concept = (typeof CONCEPTS)[number];
