import { SelectSyntaxError, type Comparator, type Expression } from './expression.js';
import { FUNCTIONS } from './functions.js';
import { readTokens, type Token } from './lexer.js';

/** How tightly a mark binds what stands left of it; what is not here binds nothing. */
const BINDING: Readonly<Partial<Record<Token['type'], number>>> = {
  '|': 1,
  '||': 2,
  '&&': 3,
  '==': 5,
  '!=': 5,
  '<': 5,
  '<=': 5,
  '>': 5,
  '>=': 5,
  '[]': 9,
  '*': 20,
  '[?': 21,
  '.': 40,
  '!': 45,
  '{': 50,
  '[': 55,
  '(': 60,
};

/** An operator that binds less tightly than this ends the right side of a projection. */
const PROJECTION_END = 10;

/** Levels of an expression; a deeper one would overflow the stack. */
const MAX_DEPTH = 64;

const CURRENT: Expression = { kind: 'current' };

const COMPARATORS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);

/** What to write instead of something that begins no expression. */
function hintFor({ type, value, at }: Token): string {
  if (type === 'number') return `; a number is written in backticks: \`${String(value)}\``;
  return type === '.' && at === 0 ? '; begin with the name of a field' : '';
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression {
    const expression = this.#expression(0);
    this.#expect('end');
    return expression;
  }

  get #token(): Token {
    return this.#tokens[this.#next]!;
  }

  #take(): Token {
    return this.#tokens[this.#next++]!;
  }

  #accept(type: Token['type']): boolean {
    if (this.#token.type !== type) return false;
    this.#next++;
    return true;
  }

  #expect(type: Token['type']): Token {
    if (this.#token.type === type) return this.#take();
    return this.#unexpected(this.#token, type === 'end' ? 'the end' : `"${type}"`);
  }

  #unexpected(token: Token, expected: string, hint = ''): never {
    const found = token.type === 'end' ? 'it ends' : `found ${JSON.stringify(token.value)}`;
    throw new SelectSyntaxError(`expected ${expected}, ${found}${hint}`, token.at);
  }

  #expression(binding: number): Expression {
    if (++this.#depth > MAX_DEPTH) {
      throw new SelectSyntaxError(`it nests deeper than ${MAX_DEPTH} levels`, this.#token.at);
    }
    let left = this.#prefix(this.#take());
    while (binding < (BINDING[this.#token.type] ?? 0)) left = this.#infix(left, this.#take());
    this.#depth--;
    return left;
  }

  /** An expression that begins with this token. */
  #prefix(token: Token): Expression {
    switch (token.type) {
      case 'literal':
        return { kind: 'literal', value: token.value };
      case 'name':
        if (this.#token.type === '(') return this.#call(token);
        return { kind: 'field', name: String(token.value) };
      case 'quoted':
        if (this.#token.type === '(') this.#unexpected(this.#token, 'no call of a quoted name');
        return { kind: 'field', name: String(token.value) };
      case '@':
        return CURRENT;
      case '!':
        return { kind: 'not', of: this.#expression(BINDING['!']!) };
      case '*':
        return { kind: 'values', left: CURRENT, right: this.#projected(BINDING['*']!) };
      case '[?':
        return this.#filter(CURRENT);
      case '[]':
        return this.#flattened(CURRENT);
      case '{':
        return this.#object();
      case '[':
        return this.#bracket(CURRENT) ?? this.#list();
      case '&':
        return { kind: 'reference', of: this.#expression(0) };
      case '(': {
        const inner = this.#expression(0);
        this.#expect(')');
        return inner;
      }
      default:
        return this.#unexpected(token, 'an expression', hintFor(token));
    }
  }

  /** An expression that goes on with this token. */
  #infix(left: Expression, token: Token): Expression {
    switch (token.type) {
      case '.':
        if (this.#accept('*')) return { kind: 'values', left, right: this.#projected(BINDING['.']!) };
        return { kind: 'then', left, right: this.#afterDot(BINDING['.']!) };
      case '|':
        return { kind: 'then', left, right: this.#expression(BINDING['|']!) };
      case '||':
        return { kind: 'or', left, right: this.#expression(BINDING['||']!) };
      case '&&':
        return { kind: 'and', left, right: this.#expression(BINDING['&&']!) };
      case '[?':
        return this.#filter(left);
      case '[]':
        return this.#flattened(left);
      case '[':
        return this.#bracket(left) ?? this.#unexpected(this.#token, 'a number, ":" or "*"');
      default:
        if (COMPARATORS.has(token.type)) {
          const right = this.#expression(BINDING[token.type]!);
          return { kind: 'compare', operator: token.type as Comparator, left, right };
        }
        return this.#unexpected(token, 'an operator');
    }
  }

  #afterDot(binding: number): Expression {
    const { type } = this.#token;
    if (type === 'name' || type === 'quoted' || type === '*') return this.#expression(binding);
    if (this.#accept('[')) return this.#list();
    if (this.#accept('{')) return this.#object();
    return this.#unexpected(this.#token, 'a name, "*", "[" or "{"');
  }

  /** What is done with each item of a projection. */
  #projected(binding: number): Expression {
    const { type } = this.#token;
    if ((BINDING[type] ?? 0) < PROJECTION_END) return CURRENT;
    if (type === '[' || type === '[?') return this.#expression(binding);
    if (this.#accept('.')) return this.#afterDot(binding);
    return this.#unexpected(this.#token, 'an operator');
  }

  #flattened(of: Expression): Expression {
    return { kind: 'each', left: { kind: 'flatten', of }, right: this.#projected(BINDING['[]']!) };
  }

  #filter(left: Expression): Expression {
    const test = this.#expression(0);
    this.#expect(']');
    const right = this.#token.type === '[]' ? CURRENT : this.#projected(BINDING['[?']!);
    return { kind: 'filter', left, test, right };
  }

  /** After `[`: an index, a slice or `*]`; `undefined` for anything else. */
  #bracket(left: Expression): Expression | undefined {
    const { type } = this.#token;
    if (type === '*' && this.#tokens[this.#next + 1]?.type === ']') {
      this.#next += 2;
      return { kind: 'each', left, right: this.#projected(BINDING['*']!) };
    }
    if (type !== 'number' && type !== ':') return undefined;
    const parts: Array<number | undefined> = [undefined];
    const start = this.#token;
    while (!this.#accept(']')) {
      if (this.#accept(':')) parts.push(undefined);
      else if (this.#token.type === 'number' && parts.at(-1) === undefined)
        parts.splice(-1, 1, Number(this.#take().value));
      else this.#unexpected(this.#token, 'a number, ":" or "]"');
    }
    if (parts.length > 3) throw new SelectSyntaxError('a slice has at most two ":"', start.at);
    if (parts.length === 1) return then(left, { kind: 'index', index: parts[0]! });
    if (parts[2] === 0) throw new SelectSyntaxError('the step of a slice is not 0', start.at);
    const slice: Expression = { kind: 'slice', start: parts[0], stop: parts[1], step: parts[2] ?? 1 };
    return { kind: 'each', left: then(left, slice), right: this.#projected(BINDING['*']!) };
  }

  #list(): Expression {
    const items: Expression[] = [];
    do items.push(this.#expression(0));
    while (this.#accept(','));
    this.#expect(']');
    return { kind: 'list', items };
  }

  #object(): Expression {
    const members: Array<readonly [string, Expression]> = [];
    do {
      const name = this.#take();
      if (name.type !== 'name' && name.type !== 'quoted') this.#unexpected(name, 'a name');
      this.#expect(':');
      members.push([String(name.value), this.#expression(0)]);
    } while (this.#accept(','));
    this.#expect('}');
    return { kind: 'object', members };
  }

  #call({ value, at }: Token): Expression {
    const name = String(value);
    this.#expect('(');
    const args: Expression[] = [];
    if (!this.#accept(')')) {
      do args.push(this.#expression(0));
      while (this.#accept(','));
      this.#expect(')');
    }
    const known = FUNCTIONS.get(name);
    if (!known) throw new SelectSyntaxError(`there is no function ${name}()`, at);
    const { least, most } = known;
    if (args.length < least || args.length > most) {
      const count = least === most ? String(least) : `${least} or more`;
      throw new SelectSyntaxError(`${name}() takes ${count} arguments, found ${args.length}`, at);
    }
    return { kind: 'call', name, args, at };
  }
}

function then(left: Expression, right: Expression): Expression {
  return left.kind === 'current' ? right : { kind: 'then', left, right };
}

/** Reads a JMESPath expression. */
export function parseExpression(text: string): Expression {
  return new Parser(readTokens(text)).parse();
}
