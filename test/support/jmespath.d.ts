declare module 'jmespath' {
  /** The part of the package that the tests use; it has no types of its own. */
  export function search(data: unknown, expression: string): unknown;
}
