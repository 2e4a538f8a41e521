declare module 'parse-prometheus-text-format' {
  /** The families of metrics in a text. */
  export default function parsePrometheusTextFormat(
    text: string,
  ): Array<{ readonly name: string; readonly type: string; readonly metrics: readonly object[] }>;
}
