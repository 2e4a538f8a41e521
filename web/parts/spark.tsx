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

/** Bars over time, the failed part of each in another colour; `label` says the same in words. */
export function Bars({
  values,
  label,
  height = 72,
}: {
  readonly values: ReadonlyArray<{ readonly total: number; readonly bad: number; readonly name: string }>;
  readonly label: string;
  readonly height?: number;
}): VNode {
  const width = 600;
  const top = Math.max(1, ...values.map(({ total }) => total));
  const step = width / Math.max(1, values.length);
  const tall = (value: number): number => (value / top) * (height - 4);
  return (
    <svg class="bars" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} preserveAspectRatio="none">
      {values.map(({ total, bad, name }, index) => {
        const left = index * step + 1.5;
        const across = Math.max(1, step - 3);
        return (
          <g key={name}>
            <title>{`${name}: ${total} calls, ${bad} failed`}</title>
            <rect x={left} y={height - 2} width={across} height={2} class="bar-base" rx="1" />
            <rect x={left} y={height - tall(total)} width={across} height={tall(total)} class="bar-ok" rx="2" />
            <rect x={left} y={height - tall(bad)} width={across} height={tall(bad)} class="bar-bad" rx="2" />
          </g>
        );
      })}
    </svg>
  );
}
