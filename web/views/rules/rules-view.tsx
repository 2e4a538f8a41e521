import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { api } from '../../api/client.js';
import { asApiError, type ApiError } from '../../api/problem.js';
import type { JsonObject, RuleConfig, RulesPreview } from '../../api/types.js';
import { useConfigFile } from '../../app/config-file.js';
import { createDraft } from '../../app/draft.js';
import { onForget, useResource } from '../../app/resource.js';
import { goTo, hrefTo, type Route } from '../../app/router.js';
import { isAdmin } from '../../app/session.js';
import { ConfigReview } from '../../parts/change-review.js';
import { FileProblem } from '../../parts/file-problem.js';
import { Icon } from '../../parts/icon.js';
import { LookOnly } from '../../parts/look-only.js';
import { Page, Section } from '../../parts/page.js';
import { ServerText } from '../../parts/server-text.js';
import { Callout, Empty, Failure, Loaded } from '../../parts/states.js';
import { withRuleNumbers } from '../../text/advice.js';
import { plural } from '../../text/format.js';
import { RuleRow, Tools } from './rule-row.js';
import { allowListText, exceptionText, patternText, previewText } from './rule-words.js';

const PAUSE_MS = 150;
/** Stays when another view is opened, and when the config changes. */
const draft = createDraft<readonly RuleConfig[]>();
onForget(draft.drop);

function Editor({
  initial,
  wanted,
  onSaved,
}: {
  readonly initial: readonly RuleConfig[];
  /** The tool that an exception is to be made for. */
  readonly wanted: string | undefined;
  readonly onSaved: () => void;
}): VNode {
  const [rules, showRules] = useState<readonly RuleConfig[]>(() => draft.value ?? initial);
  const setRules = (next: readonly RuleConfig[]): void => {
    draft.keep(next, initial);
    showRules(next);
  };
  const isOutdated = draft.isOutdated(initial);
  const [preview, setPreview] = useState<RulesPreview>();
  const [error, setError] = useState<ApiError>();
  const [isReviewed, setReviewed] = useState(false);
  const complete = rules.filter((rule) => patternText(rule) !== '');
  const written = JSON.stringify(complete);
  useEffect(() => {
    const own = new AbortController();
    const timer = setTimeout(() => {
      api.previewRules(complete, own.signal).then(setPreview, (thrown: unknown) => {
        if (!own.signal.aborted) setError(asApiError(thrown));
      });
      setError(undefined);
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      own.abort();
    };
  }, [written]);
  const [exception, setException] = useState<string>();
  const except = async (address: string): Promise<void> => {
    try {
      const found = (await api.previewRules(complete, undefined, address)).rules.map(({ rule }) => rule);
      setException(exceptionText(address, complete, found));
      setRules(found);
    } catch (thrown) {
      setError(asApiError(thrown));
    }
  };
  useEffect(() => {
    if (wanted === undefined) return;
    // The address says it once: who comes back does not make it again.
    goTo(hrefTo('rules'), { replace: true, from: 'rules' });
    void except(wanted);
  }, [wanted]);
  const isChanged = written !== JSON.stringify(initial);
  const replace = (index: number, next: RuleConfig | undefined): void =>
    setRules(rules.flatMap((rule, place) => (place === index ? (next ? [next] : []) : [rule])));
  const move = (index: number, step: number): void => {
    const next = [...rules];
    const [moved] = next.splice(index, 1);
    next.splice(index + step, 0, moved!);
    setRules(next);
  };
  const change = { toolRules: complete as unknown as JsonObject[] };
  const allowList = preview ? allowListText(complete, preview) : '';
  return (
    <div class="stack">
      {error && <Failure error={error} />}
      {isOutdated && isChanged && (
        <Callout tone="warn">
          The rules of the config changed while you wrote. Your draft is kept; the review shows what it would change.
        </Callout>
      )}
      {exception !== undefined && (
        <Callout tone="info">
          <div class="stack stack-s">
            <p role="status">
              <ServerText text={exception} limit={600} />
            </p>
            {isChanged && (
              <p>
                <button
                  type="button"
                  class="button button-small button-main"
                  disabled={!isAdmin()}
                  onClick={() => setReviewed(true)}
                >
                  Review the exception
                </button>
              </p>
            )}
          </div>
        </Callout>
      )}
      <Section title={plural(rules.length, 'rule')} aside="the first rule that fits decides" flush>
        {rules.length === 0 ? (
          <Empty icon="rules" title="No rules: every tool is offered">
            <p>
              A rule turns tools on or off by their names. For example: tools named <code>delete_*</code> are disabled.
            </p>
          </Empty>
        ) : (
          <ol>
            {rules.map((rule, index) => (
              <RuleRow
                key={index}
                rule={rule}
                index={index}
                count={rules.length}
                effect={preview?.rules[complete.indexOf(rule)]}
                onChange={(next) => replace(index, next)}
                onExcept={(address) => void except(address)}
                onMove={(step) => move(index, step)}
                onRemove={() => replace(index, undefined)}
              />
            ))}
          </ol>
        )}
        <div class="bulk">
          <button
            type="button"
            class="button button-small"
            onClick={() => setRules([...rules, { pattern: '', enabled: false }])}
          >
            <Icon name="plus" />
            Add a rule
          </button>
          {isChanged && (
            <>
              <button
                type="button"
                class="button button-small button-main"
                disabled={!isAdmin()}
                onClick={() => setReviewed(true)}
              >
                Review the change
              </button>
              <button
                type="button"
                class="button button-small"
                onClick={() => {
                  setRules(initial);
                  setException(undefined);
                }}
              >
                Undo
              </button>
              <LookOnly class="muted small" />
            </>
          )}
        </div>
      </Section>
      <div role="status">
        {preview && (isChanged || preview.undecided.count > 0 || preview.warnings.length > 0) && (
          <Callout tone={preview.changed.off.count > 0 ? 'warn' : 'info'}>
            <p>{previewText(preview, isChanged)}</p>
            {allowList !== '' && <p>{allowList}</p>}
            {isChanged && (
              <div class="line">
                <Tools effect={preview.changed.on} tone="ok" word="turns on" />
                <Tools effect={preview.changed.off} tone="bad" word="turns off" />
                <Tools effect={preview.changed.waiting} tone="warn" word="waits" />
              </div>
            )}
            {preview.warnings.map(({ path, message }) => (
              <p key={path + message}>
                <span class="strong">{withRuleNumbers(path).replace(/^rule/, 'Rule')}</span>{' '}
                <ServerText text={withRuleNumbers(message)} />
              </p>
            ))}
          </Callout>
        )}
      </div>
      <ConfigReview
        title="Review the rules"
        change={isReviewed ? change : undefined}
        onClose={() => setReviewed(false)}
        onDone={() => {
          draft.drop();
          onSaved();
        }}
      />
    </div>
  );
}

/** Which tools are offered: the rules, and what each decides, while one writes. */
export function RulesView({ route }: { readonly route: Route }): VNode {
  const config = useResource('rules config', api.config, (event) => event.type === 'reloaded');
  const file = useConfigFile();
  return (
    <Page
      title="Rules"
      lead="Which tools agents are offered. You see at once what a rule turns on and off; nothing changes before you save."
    >
      {file.data.value && <FileProblem file={file.data.value} />}
      <Loaded from={config} what="The list of rules">
        {(shown) => (
          <Editor
            key={JSON.stringify(shown.toolRules)}
            initial={shown.toolRules}
            wanted={route.query['except']}
            onSaved={config.reload}
          />
        )}
      </Loaded>
    </Page>
  );
}
