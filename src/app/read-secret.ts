/** What a secret is read from: the keyboard, or any other stream. */
interface Input extends AsyncIterable<unknown> {
  readonly isTTY?: boolean;
  setRawMode?(on: boolean): unknown;
  setEncoding?(encoding: 'utf8'): unknown;
}

/** Bytes of one secret; more is a mistake. */
const MAX_CHARS = 64 * 1024;

/** Thrown when the user gives up with Ctrl-C. */
export class SecretCancelled extends Error {}

/** What the keys that were pressed make of the text so far; `undefined` while the line is not finished. */
function typeIn(typed: string[], keys: string): string | undefined {
  for (const key of keys) {
    if (key === '\u0003') throw new SecretCancelled('No secret was given.');
    if (key === '\r' || key === '\n' || key === '\u0004') return typed.join('');
    if (key === '\u007f' || key === '\b') typed.pop();
    else typed.push(key);
  }
  return undefined;
}

/** A secret from the keyboard, without echo, or all of stdin when it is not a terminal. */
export async function readSecret(input: Input, ask: (prompt: string) => void, prompt: string): Promise<string> {
  const typed: string[] = [];
  const isKeyboard = input.isTTY === true && input.setRawMode !== undefined;
  if (isKeyboard) {
    ask(prompt);
    input.setRawMode!(true);
  }
  input.setEncoding?.('utf8');
  try {
    for await (const chunk of input) {
      const line = isKeyboard ? typeIn(typed, String(chunk)) : undefined;
      if (line !== undefined) return line;
      if (!isKeyboard) typed.push(String(chunk));
      if (typed.length > MAX_CHARS) break;
    }
    return typed.join('');
  } finally {
    if (isKeyboard) {
      input.setRawMode!(false);
      ask('\n');
    }
  }
}
