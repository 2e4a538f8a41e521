import type { VNode } from 'preact';

/** A small line of values over time; `label` says the same in words. */
export function Spark({
  values,
  label,
  height = 36,
}: {
  readonly values: ReadonlyArray<{ readonly value: number; readonly bad?: boolean }>;
  readonly label: string;
  readonly height?: number;
}): VNode {
  const width = 240;
  const top = Math.max(1, ...values.map(({ value }) => value));
  const x = (index: number): number =>
    values.length < 2 ? width / 2 : 5 + (index / (values.length - 1)) * (width - 10);
  const y = (value: number): number => height - 3 - (value / top) * (height - 6);
  const points = values.map(({ value }, index) => `${x(index).toFixed(1)},${y(value).toFixed(1)}`);
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} preserveAspectRatio="none">
      <polyline points={points.join(' ')} />
      {values.map(({ bad, value }, index) =>
        bad ? <circle key={index} cx={x(index)} cy={y(value)} r="3" class="spark-bad" /> : null,
      )}
    </svg>
  );
}

/** The parts of a bar, from the bottom: what failed must be seen first. */
const PARTS = [
  ['bad', 'bar-bad'],
  ['waiting', 'bar-waiting'],
  ['ok', 'bar-ok'],
] as const;

/** How many of each part of a bar there are. */
export type BarParts = Readonly<Record<(typeof PARTS)[number][0], number>>;

/** Bars over time with a colour for each part, and what the colours mean; `label` says the same in words. */
export function Bars({
  values,
  label,
  words,
  axis,
  height = 72,
}: {
  readonly values: ReadonlyArray<BarParts & { readonly name: string }>;
  readonly label: string;
  /** What each part is; a part that no bar has is not explained. */
  readonly words: Readonly<Record<keyof BarParts, string>>;
  /** The first and the last moment. */
  readonly axis: readonly [first: string, last: string];
  readonly height?: number;
}): VNode {
  const width = 600;
  const top = Math.max(1, ...values.map(({ ok, bad, waiting }) => ok + bad + waiting));
  const step = width / Math.max(1, values.length);
  const tall = (value: number): number => (value / top) * (height - 4);
  const has = (part: keyof BarParts): boolean => values.some((value) => value[part] > 0);
  return (
    <>
      <svg class="bars" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} preserveAspectRatio="none">
        {values.map((value, index) => {
          const left = index * step + 1.5;
          const across = Math.max(1, step - 3);
          let below = 0;
          return (
            <g key={value.name}>
              <title>{barTitle(value, words)}</title>
              <rect x={left} y={height - 2} width={across} height={2} class="bar-base" rx="1" />
              {PARTS.map(([part, look]) => {
                const size = tall(value[part]);
                below += size;
                return <rect key={part} x={left} y={height - below} width={across} height={size} class={look} rx="2" />;
              })}
            </g>
          );
        })}
      </svg>
      <div class="axis" aria-hidden="true">
        <span>{axis[0]}</span>
        <span>{axis[1]}</span>
      </div>
      <ul class="legend">
        {PARTS.toReversed().map(([part, look]) =>
          has(part) ? (
            <li key={part}>
              <span class={`legend-mark ${look}`} />
              {words[part]}
            </li>
          ) : null,
        )}
      </ul>
    </>
  );
}

function barTitle(
  value: BarParts & { readonly name: string },
  words: Readonly<Record<keyof BarParts, string>>,
): string {
  const parts = PARTS.toReversed().flatMap(([part]) => (value[part] > 0 ? [`${value[part]} ${words[part]}`] : []));
  return `${value.name}: ${parts.length === 0 ? 'none' : parts.join(', ')}`;
}
