/** Who asked: the caller, and the host that it used where that said its name. */
export function whoOf({ principal, host }: { readonly principal: string; readonly host?: string }): string {
  return host === undefined ? principal : `${principal} with ${host.slice(0, 60)}`;
}
