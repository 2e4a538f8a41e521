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
  const { isArray } = Array;
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

  const collect = (iterator, next) => {
    const items = [];
    for (let step = apply(next, iterator, []); !step.done; step = apply(next, iterator, [])) {
      defineProperty(items, items.length, { value: step.value, writable: true, enumerable: true, configurable: true });
    }
    return items;
  };
  const replace = function (key, value) {
    if (typeof value === 'bigint') return text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value instanceof BaseMap) return collect(apply(mapEntries, value, []), nextOfMap);
    if (value instanceof BaseSet) return collect(apply(setValues, value, []), nextOfSet);
    if (value instanceof BaseError) return { ...value, name: text(value.name), message: text(value.message) };
    return value;
  };
  /** The path at which a value contains itself. */
  const cycleIn = (value, open, path) => {
    if (typeof value !== 'object' || value === null || open.length > 200) return undefined;
    for (let at = 0; at < open.length; at++) if (open[at] === value) return path;
    const deeper = [...open, value];
    for (const key of keys(value)) {
      const found = cycleIn(value[key], deeper, path + (isArray(value) ? '[' + key + ']' : '.' + key));
      if (found !== undefined) return found;
    }
    return undefined;
  };
  const toJson = (value, what) => {
    let json;
    try {
      json = stringify(value, replace);
    } catch (error) {
      const path = error instanceof TypeError ? cycleIn(value, [], 'value') : undefined;
      if (path === undefined) throw error;
      throw new TypeError(what + ' is not JSON: ' + path + ' refers to an object that contains it (a cycle).');
    }
    if (json === undefined && value !== undefined) throw new TypeError(what + ' is not JSON: it is a ' + typeof value + '.');
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
        seen.message = typeof thrown === 'string' ? thrown : toJson(thrown, 'The thrown value') ?? text(thrown);
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
      const raw = typeof options === 'object' && options !== null && options.raw === true;
      const json = toJson(args ?? {}, 'The arguments of ' + address);
      if (json[0] !== '{') throw new TypeError('The arguments of ' + address + ' must be one object; toJSON makes something else of them.');
      const id = ++last;
      pending[id] = { resolve, reject, stack };
      ask('call', id, stringify([server, tool, raw]), json);
    });

  /** Names that the language itself asks for: a server or tool of that name is called by its address, "server:tool". */
  const isReserved = (name) => typeof name === 'symbol' || name === 'then' || name === 'toJSON';
  const refuse = () => {
    throw new TypeError('tools cannot be changed.');
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
      ownKeys: () => [],
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
      return toJson(value, 'The printed value') ?? text(value);
    } catch {
      return '[' + typeof value + ']';
    }
  };
  const print = (...values) => {
    let line = '';
    for (let at = 0; at < values.length; at++) line += (at > 0 ? ' ' : '') + show(values[at]);
    ask('print', 0, line, '');
  };
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
        const json = toJson(value, 'The returned value');
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
        // A text that looks like JSON and is none is a text.
        kind === 'maybe' ? call.resolve(json) : call.reject(error);
      }
    },
    unhandled: describe,
  };
})()`;
