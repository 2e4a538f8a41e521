import { parseSync } from 'vite';

/** One small fault in a file: what stands at a place, and what is put there instead. */
export interface Mutant {
  readonly kind: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly original: string;
  readonly replacement: string;
}

/** A node of the syntax tree, as far as it is looked at here. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && typeof (value as Node).type === 'string';

/** What a comparison becomes: its boundary moved, or its sense turned. */
const SWAPPED: ReadonlyMap<string, string> = new Map([
  ['<', '<='],
  ['<=', '<'],
  ['>', '>='],
  ['>=', '>'],
  ['===', '!=='],
  ['!==', '==='],
  ['&&', '||'],
  ['||', '&&'],
]);
const TWINS: ReadonlyMap<string, string> = new Map([
  ['some', 'every'],
  ['every', 'some'],
  ['startsWith', 'endsWith'],
  ['endsWith', 'startsWith'],
]);
/** Calls that make a value safe; without them the value itself is used. */
const SAFEGUARD = /redact|mask|verif|clean|strip|escape|seal|hash|digest|canonical|normali[sz]e|fold|lower/i;
const LOGS = /^(?:[\w.]+\.)?log\??\./;
/** Longer lists are data. */
const LONGEST_LIST = 40;

/** An `if` without `else` that leaves the function or the loop. */
function isGuard({ consequent, alternate }: Node): boolean {
  if (isNode(alternate) || !isNode(consequent)) return false;
  const last = consequent.type === 'BlockStatement' ? (consequent['body'] as Node[]).at(-1) : consequent;
  return /^(?:Throw|Return|Continue)Statement$/.test(last?.type ?? '');
}

/** Whether another fault turns this condition already. */
const isTurnedItself = (test: Node): boolean =>
  (test.type === 'BinaryExpression' && /^[!=]==$/.test(String(test['operator']))) ||
  (test.type === 'UnaryExpression' && test['operator'] === '!');

const nameOf = (callee: Node): string =>
  String(callee['name'] ?? (callee['property'] as Node | undefined)?.['name'] ?? '');

/** What can be put in the place of one node, each with the part of the text that it replaces. */
function* faultsOf(node: Node, source: string): Generator<readonly [kind: string, part: Node, replacement: string]> {
  const text = (part: Node): string => source.slice(part.start, part.end);
  const between = (left: Node, right: Node, operator: string): Node => {
    const start = left.end + source.slice(left.end, right.start).indexOf(operator);
    return { type: 'Operator', start, end: start + operator.length };
  };
  switch (node.type) {
    case 'IfStatement':
    case 'ConditionalExpression': {
      const test = node['test'] as Node;
      if (!isTurnedItself(test)) yield ['condition', test, `!(${text(test)})`];
      if (node.type === 'IfStatement' && isGuard(node)) yield ['guard', node, ';'];
      return;
    }
    case 'BinaryExpression':
    case 'LogicalExpression': {
      const operator = String(node['operator']);
      const swapped = SWAPPED.get(operator);
      if (swapped === undefined) return;
      yield [
        operator.length < 3 && /[<>]/.test(operator) ? 'boundary' : 'operator',
        between(node['left'] as Node, node['right'] as Node, operator),
        swapped,
      ];
      return;
    }
    case 'UnaryExpression':
      if (node['operator'] === '!') yield ['negation', node, text(node['argument'] as Node)];
      return;
    case 'Literal': {
      const { value } = node;
      if (typeof value === 'boolean') yield ['literal', node, String(!value)];
      if (typeof value === 'number') yield ['number', node, `(${value + 1})`];
      if (isNode(node['regex']) || typeof node['regex'] === 'object') {
        const regex = text(node);
        if (regex.startsWith('/^')) yield ['anchor', node, `/${regex.slice(2)}`];
        if (/[^\\]\$\/[a-z]*$/.test(regex)) yield ['anchor', node, regex.replace(/\$(\/[a-z]*)$/, '$1')];
      }
      return;
    }
    case 'ExpressionStatement': {
      const expression = node['expression'] as Node;
      const inner = expression.type === 'AwaitExpression' ? (expression['argument'] as Node) : expression;
      if (inner.type === 'CallExpression' && !LOGS.test(text(inner))) yield ['call', node, ';'];
      return;
    }
    case 'CallExpression': {
      const callee = node['callee'] as Node;
      const [first] = node['arguments'] as Node[];
      const name = nameOf(callee);
      const twin = TWINS.get(name);
      if (twin !== undefined && isNode(callee['property'])) yield ['method', callee['property'], twin];
      if (!SAFEGUARD.test(name)) return;
      const kept = first ?? (callee.type === 'MemberExpression' ? (callee['object'] as Node) : undefined);
      if (kept && kept.type !== 'SpreadElement') yield ['safeguard', node, `(${text(kept)})`];
      return;
    }
    case 'ArrayExpression': {
      const elements = (node['elements'] as Array<Node | null>).filter((each) => each !== null);
      if (elements.length < 2 || elements.length > LONGEST_LIST) return;
      for (const [at, element] of elements.entries()) {
        const next = elements[at + 1];
        const previous = elements[at - 1];
        const [start, end] = next ? [element.start, next.start] : [previous!.end, element.end];
        yield ['element', { type: 'Element', start, end }, ''];
      }
      return;
    }
  }
}

/** Types say nothing about what runs. */
const isSilent = (type: string): boolean => type.startsWith('TS') && !/^TS(?:As|NonNull|Satisfies)/.test(type);

/** Every small fault that can be made in a file, in the order of its text. */
export function mutantsOf(path: string, source: string): Mutant[] {
  const { program, errors } = parseSync(path, source);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]!.message}`);
  const found: Mutant[] = [];
  const visit = (node: Node): void => {
    if (isSilent(node.type) || node.type === 'ImportDeclaration') return;
    for (const [kind, { start, end }, replacement] of faultsOf(node, source)) {
      const line = source.slice(0, start).split('\n').length;
      found.push({ kind, line, start, end, original: source.slice(start, end), replacement });
    }
    for (const [name, value] of Object.entries(node)) {
      // The name of a field is no value: a number in its place would not even parse.
      if (name === 'key' && node['computed'] !== true) continue;
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) visit(child);
    }
  };
  visit(program as unknown as Node);
  return found.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

/** The text of a file with one fault. */
export function mutate(source: string, { start, end, replacement }: Mutant): string {
  return source.slice(0, start) + replacement + source.slice(end);
}
