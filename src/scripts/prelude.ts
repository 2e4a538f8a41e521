/** The name under which frames of the script stand in stack traces. */
export const SCRIPT_FILE = 'script';

/** The name under which frames of the prelude stand in stack traces. */
export const PRELUDE_FILE = 'toolscout';

/** The name of the one function of the host; the prelude takes it off the global object before any script runs. */
export const HOST_FUNCTION = 'toolscout';

/**
 * What every VM runs before a script. It evaluates to the functions that the host calls: `{begin, run, answer, unhandled}`. Everything that it
 * needs of the global object is taken before a script can change it; only strings and numbers cross to the host.
 */
export const PRELUDE = `(() => {
  'use strict';
  const ask = globalThis.${HOST_FUNCTION};
  delete globalThis.${HOST_FUNCTION};
  // What the engine adds to ECMAScript.
  for (const name of ['queueMicrotask', 'InternalError', 'performance', 'atob', 'btoa', 'DOMException', 'console', 'navigator', 'gc', 'print', 'std', 'os', 'bjs']) {
    delete globalThis[name];
  }
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const { create, defineProperty, freeze, keys } = Object;
  const { isArray, from } = Array;
  const { isView } = ArrayBuffer;
  const BaseDataView = DataView;
  const BaseError = Error;
  const BasePromise = Promise;
  const BaseProxy = Proxy;
  const BaseMap = Map;
  const BaseSet = Set;
  const mapEntries = Map.prototype.entries;
  const setValues = Set.prototype.values;
  const nextOfMap = new Map().entries().next;
  const nextOfSet = new Set().values().next;
  const then = Promise.prototype.then;
  const { indexOf, slice } = String.prototype;
  const { toPrimitive, toStringTag } = Symbol;
  const text = String;
  const FIELDS = freeze(['code', 'server', 'tool', 'suggestion']);

  const define = (items, value) =>
    defineProperty(items, items.length, { value, writable: true, enumerable: true, configurable: true });
  const collect = (iterator, next) => {
    const items = [];
    for (let step = apply(next, iterator, []); !step.done; step = apply(next, iterator, [])) {
      define(items, step.value);
    }
    return items;
  };
  const replace = function (key, value) {
    if (typeof value === 'bigint') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof BaseMap) return collect(apply(mapEntries, value, []), nextOfMap);
    if (value instanceof BaseSet) return collect(apply(setValues, value, []), nextOfSet);
    if (value instanceof BasePromise) throw new NotAwaited();
    if (isView(value) && !(value instanceof BaseDataView)) return from(value);
    if (value instanceof BaseError) return { ...value, name: text(value.name), message: text(value.message) };
    return value;
  };
  /** The path at which a value contains itself, or one that holds a promise. */
  const pathIn = (value, isSought, open, path) => {
    if (typeof value !== 'object' || value === null || open.length > 200) return undefined;
    if (isSought(value, open)) return path;
    const deeper = [...open, value];
    for (const key of keys(value)) {
      const found = pathIn(value[key], isSought, deeper, path + (isArray(value) ? '[' + key + ']' : '.' + key));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const isOpen = (value, open) => {
    for (let at = 0; at < open.length; at++) if (open[at] === value) return true;
    return false;
  };
  const isPromise = (value) => value instanceof BasePromise;
  const ADVICE = 'await it, or await Promise.all(list) for a list of promises.';
  class NotAwaited {}
  /** Whether a value nests too deep to be written; it looks at the first thousands of values alone, the deepest first. */
  const isTooDeep = (value) => {
    const values = [value];
    const levels = [0];
    for (let looked = 0; looked < 4000 && values.length > 0; looked++) {
      const at = values.length - 1;
      const next = values[at];
      const level = levels[at];
      values.length = at;
      levels.length = at;
      if (level > 1000) return true;
      if (typeof next !== 'object' || next === null || isPromise(next) || isView(next)) continue;
      const names = isArray(next) ? undefined : keys(next);
      const count = (names ?? next).length;
      for (let index = 0; index < count && index < 50; index++) {
        define(values, next[names ? names[index] : index]);
        define(levels, level + 1);
      }
    }
    return false;
  };
  const toJson = (value, name, what) => {
    let json;
    try {
      if (isTooDeep(value)) throw new TypeError(name + ' cannot be written as JSON: it nests deeper than 1000 levels.');
      json = stringify(value, replace);
    } catch (error) {
      if (error instanceof NotAwaited) throw new TypeError((pathIn(value, isPromise, [], what) ?? what) + ' is a promise: ' + ADVICE);
      const path = error instanceof TypeError ? pathIn(value, isOpen, [], 'value') : undefined;
      if (path === undefined) throw error;
      throw new TypeError(name + ' cannot be written as JSON: ' + path + ' refers to an object that contains it (a cycle).');
    }
    if (json === undefined && value !== undefined) throw new TypeError(name + ' cannot be written as JSON: it is a ' + typeof value + '.');
    return json;
  };

  const describe = (thrown) => {
    const seen = create(null);
    try {
      if (thrown instanceof BaseError) {
        seen.name = text(thrown.name);
        seen.message = text(thrown.message);
        seen.stack = text(thrown.stack);
        if (thrown instanceof ToolError) {
          for (let at = 0; at < FIELDS.length; at++) {
            const value = thrown[FIELDS[at]];
            if (typeof value === 'string') seen[FIELDS[at]] = value;
          }
        }
      } else {
        seen.thrown = true;
        seen.message = typeof thrown === 'string' ? thrown : toJson(thrown, 'The thrown value', 'value') ?? text(thrown);
      }
    } catch {
      seen.message = 'something that cannot be shown was thrown';
    }
    return stringify(seen);
  };

  class ToolError extends BaseError {
    constructor(fields, stack) {
      super(fields.message);
      const set = (name, value) => defineProperty(this, name, { value, writable: true, enumerable: name !== 'stack', configurable: true });
      set('name', 'ToolError');
      for (let at = 0; at < FIELDS.length; at++) set(FIELDS[at], fields[FIELDS[at]]);
      set('stack', stack);
    }
  }

  let last = 0;
  const pending = create(null);
  const callTool = (server, tool, args, options) =>
    new BasePromise((resolve, reject) => {
      const { stack } = new BaseError();
      const address = server + ':' + tool;
      if (args !== undefined && (typeof args !== 'object' || args === null || isArray(args))) {
        throw new TypeError('The arguments of ' + address + ' must be one object, such as {name: value}.');
      }
      if (typeof options === 'object' && options !== null) {
        for (const name of keys(options)) {
          if (name !== 'raw') throw new TypeError('The second argument of ' + address + ' has only the option raw, not ' + name + '.');
        }
      }
      const raw = typeof options === 'object' && options !== null && options.raw === true;
      const json = toJson(args ?? {}, 'What ' + address + ' is called with', 'arguments');
      if (json[0] !== '{') throw new TypeError('The arguments of ' + address + ' must be one object; toJSON makes something else of them.');
      const id = ++last;
      pending[id] = { resolve, reject, stack };
      // Not as a list: a script can change how lists are written.
      ask('call', id, '[' + stringify(server) + ',' + stringify(tool) + ',' + raw + ']', json);
    });

  /** Names that the language itself asks for: a server or tool of that name is called by its address, "server:tool". */
  const isReserved = (name) => typeof name === 'symbol' || name === 'then' || name === 'toJSON';
  const refuse = () => {
    throw new TypeError('tools cannot be changed.');
  };
  const unlisted = () => {
    throw new TypeError('A script cannot list the names of tools: search for them before you write it.');
  };
  const names = (read, label) => {
    const known = create(null);
    return new BaseProxy(freeze(create(null)), {
      get: (_, name) => {
        if (name === toPrimitive) return () => label;
        if (name === toStringTag) return 'Tools';
        if (isReserved(name)) return undefined;
        return (known[name] ??= read(name));
      },
      has: (_, name) => !isReserved(name),
      ownKeys: unlisted,
      getOwnPropertyDescriptor: () => undefined,
      getPrototypeOf: () => null,
      set: refuse,
      defineProperty: refuse,
      deleteProperty: refuse,
      setPrototypeOf: refuse,
    });
  };
  const toolOf = (server, tool) => freeze((args, options) => callTool(server, tool, args, options));
  const serverOf = (server) => names((tool) => toolOf(server, tool), '[tools of ' + server + ']');
  const tools = names((name) => {
    const colon = apply(indexOf, name, [':']);
    if (colon < 1) return serverOf(name);
    return toolOf(apply(slice, name, [0, colon]), apply(slice, name, [colon + 1]));
  }, '[tools]');
  const show = (value) => {
    if (typeof value === 'string') return value;
    try {
      if (value instanceof BaseError) return text(value.name) + ': ' + text(value.message);
      return toJson(value, 'The printed value', 'value') ?? text(value);
    } catch {
      return isPromise(value) ? '[a promise: await it]' : '[' + typeof value + ']';
    }
  };
  const print = (...values) => {
    let line = '';
    for (let at = 0; at < values.length; at++) line += (at > 0 ? ' ' : '') + show(values[at]);
    ask('print', 0, line, '');
  };
  // A forgotten await in a text would otherwise go unseen: "[object Promise]".
  const noText = () => {
    throw new TypeError('A promise is used as a text or a number: await it first.');
  };
  defineProperty(BasePromise.prototype, toPrimitive, { value: freeze(noText), writable: true, configurable: true });
  defineProperty(globalThis, 'tools', { value: tools, enumerable: true });
  defineProperty(globalThis, 'print', { value: freeze(print), enumerable: true });

  // Chris Doty-Humphrey's sfc32; the seed comes from the host.
  let a = 0, b = 0, c = 0, d = 1;
  const draw = () => {
    const t = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + t | 0;
    return t >>> 0;
  };
  const random = () => ((draw() >>> 6) * 134217728 + (draw() >>> 5)) / 9007199254740992;
  defineProperty(Math, 'random', { value: random, writable: true, configurable: true });

  return {
    begin(first, second, third) {
      [a, b, c, d] = [first | 0, second | 0, third | 0, 1];
      for (let at = 0; at < 15; at++) draw();
    },
    run(main) {
      const end = (kind, json) => ask(kind, 0, json, '');
      const fulfilled = (value) => {
        const json = toJson(value, 'The returned value', 'value');
        end(json === undefined ? 'nothing' : 'value', json ?? '');
      };
      const failed = (thrown) => end('error', describe(thrown));
      apply(then, apply(then, main(), [fulfilled]), [undefined, failed]);
    },
    answer(id, kind, json) {
      const call = pending[id];
      if (!call) return;
      delete pending[id];
      if (kind === 'error') return call.reject(new ToolError(parse(json), call.stack));
      if (kind === 'text') return call.resolve(json);
      try {
        call.resolve(parse(json));
      } catch (error) {
        // A text that looks like JSON and does not parse stays a text.
        kind === 'maybe' ? call.resolve(json) : call.reject(error);
      }
    },
    unhandled: describe,
  };
})()`;
