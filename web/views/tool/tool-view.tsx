import type { VNode } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import type { Json, JsonObject, PendingCall, ToolDetails, Why } from '../../api/types.js';
import { asks } from '../../app/asks.js';
import type { LiveEvent } from '../../app/live.js';
import { useResource } from '../../app/resource.js';
import { hrefTo, type Route } from '../../app/router.js';
import { now } from '../../app/now.js';
import { seesAsAdmin, session } from '../../app/session.js';
import { wayBack } from '../../app/way-back.js';
import { fieldOf } from '../../form/field.js';
import { limitsText } from '../../form/limits.js';
import { SchemaForm } from '../../form/schema-form.js';
import { checkValue, initialValue, toArguments, type Draft, type FormProblem } from '../../form/value.js';
import { ExceptionButton } from '../../parts/exception-button.js';
import { Icon } from '../../parts/icon.js';
import { JsonTree } from '../../parts/json-tree.js';
import { Facts, Page, Section } from '../../parts/page.js';
import { ServerLine, ServerText } from '../../parts/server-text.js';
import { Advice, Badge, Callout, Loaded, StatusBadge } from '../../parts/states.js';
import { adviceOf, reasonOf } from '../../text/advice.js';
import { needsText } from '../../text/confirm-words.js';
import { effectsOf } from '../../text/effect-words.js';
import { formatAgo } from '../../text/format.js';
import { statusWord } from '../../text/status-word.js';
import { approvalOf } from '../approvals/approval-words.js';
import { TakeBackButton } from '../approvals/take-back.js';
import { AsksElsewhere } from './ask-view.js';
import { CopyAs } from './copy-as.js';
import { parameterType } from './parameter-type.js';
import { keptRun } from './kept-runs.js';
import { isUnsent } from './run.js';
import { SavedCalls } from './saved-calls.js';
import { RunView } from './run-view.js';
import { confirmText, destructiveText, standingCall, warnsFirst } from './standing-call.js';
import { decidedAt, headingOf, isUnknownServer } from './why-words.js';

/** Another process over the same store may decide without an event here. */
const CALLS_EVERY_MS = 15_000;

/** Why agents do not get a tool, and where that is decided. */
function NotOffered({
  server,
  tool,
  why,
  onChange,
}: {
  readonly server: string;
  readonly tool: string;
  readonly why: Why;
  readonly onChange: () => void;
}): VNode {
  const advice = adviceOf(why.suggestion);
  const place = decidedAt(server, tool, why);
  return (
    <Callout tone="warn">
      <div class="stack stack-s">
        <p class="strong">{headingOf(why)}</p>
        <p>
          <ServerText text={reasonOf(why.reason)} />
        </p>
        {advice && (
          <p class="muted">
            <Advice text={advice} />
          </p>
        )}
        <p class="line">
          {why.because === 'rule' && <ExceptionButton address={`${server}:${tool}`} isMain onDone={onChange} />}
          {place && (
            <a
              class={why.because === 'rule' ? 'button button-small' : 'button button-small button-main'}
              href={place.href}
            >
              {place.label}
            </a>
          )}
          <a class="button button-small" href={hrefTo('servers', isUnknownServer(why) ? [] : [server])}>
            {isUnknownServer(why) ? 'See all servers' : 'Open the server'}
          </a>
        </p>
      </div>
    </Callout>
  );
}

/** What the values of each argument may be. */
function limitsByName(schema: Json | undefined): ReadonlyMap<string, string> {
  const form = fieldOf(schema);
  return new Map(form.kind === 'object' ? form.fields.map(({ name, field }) => [name, limitsText(field)]) : []);
}

function About({ tool, onChange }: { readonly tool: ToolDetails; readonly onChange: () => void }): VNode {
  const approvals = useResource(
    `approved ${tool.server}`,
    (signal) => api.approvals('approved', signal, tool.server),
    (event) => event.type === 'approval',
  );
  const approval = approvalOf(approvals.data.value ?? [], tool.tool, tool.hash);
  const [effects, tone] = effectsOf(tool);
  const schema = tool.definition['inputSchema'] as Json | undefined;
  const limits = useMemo(() => limitsByName(schema), [tool.hash]);
  return (
    <div class="stack">
      <Section title="What it does">
        <div class="stack stack-s">
          <ServerText text={tool.description || 'The server gives no description.'} limit={1200} block />
          <Facts
            items={[
              [
                'Server',
                <a href={hrefTo('servers', [tool.server])}>
                  <ServerLine text={tool.server} />
                </a>,
              ],
              ['Status', <StatusBadge status={tool.status} />],
              ['Effects', <Badge tone={tone}>{effects}</Badge>],
              approval !== undefined && [
                'Approved',
                <span class="line">
                  <span>
                    by <ServerText text={approval.ruling?.by ?? ''} limit={100} />{' '}
                    {approval.ruling && formatAgo(approval.ruling.at, now.value)}
                  </span>
                  <TakeBackButton approval={approval} onDone={onChange} />
                </span>,
              ],
              tool.confirm !== undefined && [
                'Needs a yes',
                <>
                  {needsText(tool.confirm)}
                  {tool.confirm.when !== undefined && (
                    <>
                      :{' '}
                      <code>
                        <ServerText text={tool.confirm.when} limit={300} />
                      </code>
                    </>
                  )}{' '}
                  <span class="muted">
                    by <ServerText text={reasonOf(tool.confirm.rule)} limit={300} />
                  </span>{' '}
                  <a href={hrefTo('rules')}>Open the rules</a>
                </>,
              ],
              tool.tags.length > 0 && ['Tags', tool.tags.map((tag) => <Badge key={tag}>{tag}</Badge>)],
              [
                'Fingerprint',
                <>
                  <code title={tool.hash}>{tool.hash.slice(0, 12)}</code>{' '}
                  <span class="muted">of its definition: it changes with every change of the tool</span>
                </>,
              ],
            ]}
          />
        </div>
      </Section>
      {tool.parameters.length > 0 && (
        <Section title="Arguments" flush>
          <div class="table-scroll" tabIndex={0} role="region" aria-label="Arguments">
            <table class="table">
              <thead>
                <tr>
                  <th scope="col">Name</th>
                  <th scope="col">Type</th>
                  <th scope="col">Meaning</th>
                </tr>
              </thead>
              <tbody>
                {tool.parameters.slice(0, 100).map(({ name, type, required, description, values }) => (
                  <tr key={name}>
                    <td>
                      <code>
                        <ServerText text={name} limit={60} />
                      </code>{' '}
                      {required && <Badge tone="accent">required</Badge>}
                    </td>
                    <td class="muted whole-words">
                      <ServerText
                        text={[parameterType(type, values), limits.get(name)].filter(Boolean).join(', ')}
                        limit={160}
                      />
                    </td>
                    <td>
                      <ServerText text={description} limit={200} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </Section>
      )}
      <Section title="Schema">
        {schema === undefined ? (
          <p class="muted">None was given.</p>
        ) : (
          <JsonTree value={schema} open={1} label="Input schema" />
        )}
      </Section>
    </div>
  );
}

function Try({ tool, remembered }: { readonly tool: ToolDetails; readonly remembered: JsonObject | undefined }): VNode {
  const field = useMemo(() => fieldOf(tool.definition['inputSchema'] as Json | undefined), [tool.hash]);
  const kept = useMemo(() => keptRun(`${tool.server}:${tool.tool}`), []);
  const { run } = kept;
  const [value, setValue] = useState<Draft>(() => remembered ?? kept.value ?? initialValue(field));
  const [isSure, setSure] = useState(false);
  const [problems, setProblems] = useState<readonly FormProblem[]>([]);
  const [wasTried, setTried] = useState(false);
  const [isBroken, setBroken] = useState(false);
  const change = (next: Draft): void => {
    setValue(next);
    kept.value = next;
    setSure(false);
    // After the first attempt everything is looked at again at once; before it, missing values are not reported.
    if (wasTried) setProblems(checkValue(field, next));
  };
  const args = (toArguments(value) ?? {}) as JsonObject;
  const decided = useResource(
    `decided calls ${tool.server} ${tool.tool}`,
    async (signal) => (tool.confirm && seesAsAdmin() ? api.pendingCalls(undefined, signal) : []),
    (event) => event.type === 'calls',
    CALLS_EVERY_MS,
  );
  const standingOf = (given: JsonObject): PendingCall | undefined => {
    const { server, tool: name } = tool;
    const principal = session.value?.principal ?? '';
    return standingCall(decided.data.value ?? [], { server, tool: name, principal, args: given }, now.value);
  };
  const standing = tool.confirm && standingOf(args);
  const isKnown = decided.data.value !== undefined && seesAsAdmin();
  const start = (): void => {
    const found = checkValue(field, value);
    setProblems(found);
    setTried(true);
    if (isBroken) return;
    kept.value = value;
    if (found.length === 0 && !isSure && warnsFirst(tool, { standing, isKnown })) setSure(true);
    else if (found.length === 0) {
      setSure(false);
      kept.sent = args;
      void run.start(tool.server, tool.tool, args);
    } else requestAnimationFrame(() => document.querySelector<HTMLElement>('form [aria-invalid="true"]')?.focus());
  };
  const state = run.state.value;
  const isRunning = state.step === 'running';
  const sent = kept.sent && standingOf(kept.sent);
  // A call that was made has used its approval up.
  useEffect(() => {
    if (!isRunning && state.step !== 'idle') decided.reload();
  }, [isRunning]);
  const own = new Set(isRunning ? state.asks.map(({ id }) => id) : []);
  const others = asks.value.filter(
    ({ id, ...about }) => about.server === tool.server && about.tool === tool.tool && !own.has(id) && !run.wasAsked(id),
  );
  return (
    <div class="stack">
      <Section title="Try it">
        <form
          class="stack"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            start();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) start();
          }}
        >
          <SchemaForm field={field} value={value} problems={problems} onChange={change} onBroken={setBroken} />
          {problems.length > 0 && !isBroken && (
            <p class="field-problem" role="alert">
              Not sent: {problems.length === 1 ? 'one argument is' : `${problems.length} arguments are`} not valid.
            </p>
          )}
          {isSure && (
            <Callout tone="warn">
              <p role="alert">{destructiveText(tool.confirm, standing)}</p>
            </Callout>
          )}
          {tool.confirm && tool.callable && (
            <p class="muted small">
              {confirmText(tool.confirm, standing)} Why: <ServerText text={reasonOf(tool.confirm.rule)} limit={300} />.
            </p>
          )}
          <div class="line">
            <button
              type="submit"
              class={isSure ? 'button button-danger' : 'button button-main'}
              disabled={isRunning || !tool.callable}
            >
              <Icon name="play" />
              {isSure ? 'Run it nevertheless' : 'Run the tool'}
            </button>
            {isRunning && (
              <button type="button" class="button" onClick={run.cancel}>
                <Icon name="stop" />
                Cancel
              </button>
            )}
            {!tool.callable && <span class="muted">It cannot be run: {statusWord(tool.status)[0]}.</span>}
          </div>
        </form>
      </Section>
      {/* "Say yes or no" is over when it was said. */}
      {!(isUnsent(state) && (sent?.state === 'approved' || sent?.state === 'rejected')) && <RunView run={run} />}
      <AsksElsewhere asks={others} />
      <SavedCalls server={tool.server} tool={tool.tool} args={args} onPick={change} />
      <CopyAs tool={tool} args={args} />
    </div>
  );
}

/** Whether an event may change what a tool of a server is, or whether it is offered. */
function isAbout(event: LiveEvent, server: string): boolean {
  return event.server === server || event.type === 'approval' || event.type === 'reloaded';
}

/** One tool: what it is, and a form to try it. */
export function ToolView({ route }: { readonly route: Route }): VNode {
  const [server = '', name = ''] = route.parts;
  const tool = useResource(
    `tool ${server} ${name}`,
    (signal) => api.tool(server, name, signal),
    (event) => isAbout(event, server) && event.type !== 'state' && event.type !== 'notification',
  );
  const why = useResource(
    `why ${server} ${name}`,
    (signal) => api.why(server, name, signal),
    (event) => isAbout(event, server),
  );
  const reload = (): void => {
    why.reload();
    tool.reload();
  };
  const refused = why.data.value?.offered === false ? why.data.value : undefined;
  const back = wayBack(server);
  const saved = route.query['args'];
  const remembered = useMemo(() => {
    if (saved === undefined) return undefined;
    try {
      return JSON.parse(saved) as JsonObject;
    } catch {
      return undefined;
    }
  }, [saved]);
  return (
    <Page
      title={tool.data.value?.title ?? name}
      lead={
        <code>
          <a href={hrefTo('servers', [server])}>
            <ServerText text={server} limit={100} />
          </a>
          :<ServerText text={name} limit={200} />
        </code>
      }
      actions={
        <a class="button" href={back.href}>
          Back to {back.label}
        </a>
      }
      wide
    >
      {refused && <NotOffered server={server} tool={name} why={refused} onChange={reload} />}
      {/* What the API refuses to show is said above, with what to do about it. */}
      {!(refused && tool.data.value === undefined) && (
        <Loaded from={tool} what="The tool">
          {(details) =>
            // What a rule turns off can be looked at, not run.
            details.status === 'disabled' ? (
              <About tool={details} onChange={reload} />
            ) : (
              <div class="split">
                <Try key={details.hash + (saved ?? '')} tool={details} remembered={remembered} />
                <About tool={details} onChange={reload} />
              </div>
            )
          }
        </Loaded>
      )}
    </Page>
  );
}
