// The package brings no types of its own.
declare module "parse-prometheus-text-format" {
  /** Metric families with their samples; every value is a string. */
  export default function parsePrometheusTextFormat(text: string): unknown[];
}
