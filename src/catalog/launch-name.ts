import type { ShownTransport } from '../model/server.js';

/** Commands that run a package or an image by name, with what may stand between them and the name. */
const RUNNERS: readonly RegExp[] = [
  /^(?:npx|bunx|pnpx|uvx)$/,
  /^(?:npm exec|pnpm dlx|yarn dlx|bun x|pipx run|uv tool run|docker run|podman run|deno run)$/,
];

/** Flags whose next word is the package itself, and flags of containers that take a value. */
const PACKAGE_FLAGS: ReadonlySet<string> = new Set(['-p', '--package', '--from', '--spec']);
const VALUE_FLAGS: ReadonlySet<string> = new Set(
  '-e --env --env-file -v --volume --name --network --net -p --publish --mount -w --workdir -u --user --entrypoint --platform --add-host --label -l --python --with --registry'.split(
    ' ',
  ),
);

/** Parts of a host that do not say whose server it is; those of hosters would name the hoster. */
const PLAIN_LABELS: ReadonlySet<string> = new Set(
  'mcp api www app server servers gateway sse http remote prod staging dev edge cloud localhost vercel netlify workers pages herokuapp azurewebsites cloudfront amazonaws run fly railway onrender ngrok ngrok-free smithery glama composio pipedream trycloudflare'.split(
    ' ',
  ),
);

const IP_ADDRESS = /^[\d.]+$|^\[/;

/**
 * The package, image or host that a server is started or reached by: its id was chosen by a user and may hide the product
 * (`work` for `npx -y @linear/mcp`). Paths of this machine are never taken.
 */
export function launchNameOf({ type, target }: ShownTransport): string | undefined {
  return type === 'stdio' ? packageIn(target.split(/\s+/)) : hostIn(target);
}

function packageIn(words: readonly string[]): string | undefined {
  const command =
    words[0]
      ?.split(/[\\/]/)
      .at(-1)
      ?.replace(/\.(?:exe|cmd)$/i, '') ?? '';
  const length = [1, 2, 3].find((count) =>
    RUNNERS.some((runner) => runner.test([command, ...words.slice(1, count)].join(' '))),
  );
  if (length === undefined) return undefined;
  const isContainer = /^(?:docker|podman)$/.test(command);
  for (let at = length; at < words.length; at++) {
    const word = words[at]!;
    const [flag = '', value] = word.split('=', 2);
    if (!isContainer && PACKAGE_FLAGS.has(flag)) return packageName(value ?? words[at + 1] ?? '');
    if (!word.startsWith('-')) return isContainer ? imageName(word) : packageName(word);
    if (value === undefined && VALUE_FLAGS.has(flag)) at++;
  }
  return undefined;
}

/** `@scope/name@1.2` and `name==1.2` without their versions; none for a path or an address. */
function packageName(text: string): string | undefined {
  const name = text.replace(/^(?:npm|jsr):/, '').replace(/(?<=.)(?:@|==|>=|~=|\[).*$/, '');
  return /^(?:@[\w.-]+\/)?[\w][\w.-]*$/.test(name) ? name : undefined;
}

/** The last two parts of an image's name, without its registry, tag and digest. */
function imageName(text: string): string | undefined {
  const path = text
    .replace(/@.*$/, '')
    .replace(/:[^/]*$/, '')
    .split('/');
  const name = (path.length > 1 && /[.:]/.test(path[0]!) ? path.slice(1) : path).slice(-2).join('/');
  return /^[\w./-]+$/.test(name) && name !== '' ? name : undefined;
}

function hostIn(target: string): string | undefined {
  if (!URL.canParse(target)) return undefined;
  const { hostname } = new URL(target);
  if (IP_ADDRESS.test(hostname)) return undefined;
  const labels = hostname.split('.').slice(0, -1);
  return labels.filter((label) => !PLAIN_LABELS.has(label)).join(' ') || undefined;
}
