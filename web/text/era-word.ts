/** What a host or a server speaks, for a reader who does not know the eras of the protocol. */
export function eraWord(era: string): string {
  return era === 'legacy' ? 'MCP with sessions' : era === 'modern' ? 'MCP without sessions' : era;
}
