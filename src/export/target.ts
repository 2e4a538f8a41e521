/**
 * The words of a command line as it is shown: separated by spaces, a word with a space or a quote in
 * it written as a JSON string.
 */
export function splitTarget(target: string): string[] {
  const words: string[] = [];
  for (let at = 0; at < target.length;) {
    if (target[at] === ' ') {
      at += 1;
      continue;
    }
    const end = target[at] === '"' ? endOfString(target, at) : target.indexOf(' ', at);
    const word = target.slice(at, end === -1 ? undefined : end);
    words.push(word.startsWith('"') ? unquote(word) : word);
    at += word.length;
  }
  return words;
}

/** Where the string that begins at `from` ends. */
function endOfString(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function unquote(word: string): string {
  try {
    return String(JSON.parse(word));
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return word;
    throw thrown;
  }
}

/** A URL without what may be secret in it: user and password, query and fragment. */
export function bareUrl(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  const start = path.indexOf('://');
  const host = start === -1 ? 0 : start + 3;
  const slash = path.indexOf('/', host);
  const authority = path.slice(host, slash === -1 ? undefined : slash);
  const user = authority.lastIndexOf('@') + 1;
  return path.slice(0, host) + path.slice(host + user);
}
