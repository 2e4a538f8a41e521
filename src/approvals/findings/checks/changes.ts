/** Verbs of what cannot be called reading, as a tool says them of itself. */
const CHANGES =
  'deletes|wipes|erases|purges|prunes|expunges|drops|cancels|revokes|overwrites|replaces|rotates|publishes|buys|purchases|books|pays|merges|drains|empties|recreates|force-pushes|settles|invites|subscribes|unsubscribes|refunds|terminates|truncates|destroys|uninstalls|disables|transfers|uploads|forwards|files|registers|grants|removes|moves|e-?mails|charges|encrypts|commits|activates|executes|resets|accepts|approves|rewrites|disarms|unlocks|submits|installs|flashes|alters|restarts|reboots|kills|encrypts|pushes|lifts|releases|signs|places|sets|stops|clears|schedules|posts|switches off|turns off|places an order for|votes';
/** The same as something that happens to things. */
const CHANGED =
  'deleted|wiped|erased|purged|pruned|expunged|dropped from|removed from|moved (?:out|to)|transferred|withdrawn|cancel?led|revoked|signed out|logged out|overwritten|replaced (?:by|with)|rotated|published|mailed|e-?mailed|debited|bought|purchased|booked|accepted in|merged|drained|emptied|recreated|force-pushed|settled|invited|subscribed|unsubscribed|made public|opened to|shared with|marked (?:as )?(?:paid|done|resolved)|refunded|committed|activated(?! with| by)|registered at once|filed with|paid out|rewritten|restarted|rebooted|unlocked|pushed to|installed|signed|submitted|encrypted|expelled|blocked|turned off|switched off|disabled|set to|reset|sent (?:an? )?(?:invitation|e-?mail|message|reminder)s?|made (?:readable|public|owner|administrator|identical)|swapped|dropped|uploaded|forwarded|posted|scheduled|charged|executed against|released|given (?:away|access)|opened for|unfriended|detached|shut down|killed|stopped|marked as (?:read|settled)|cleared';
/** What follows such a verb and does not follow a noun that looks like one. */
const OBJECT =
  '(?:the|all|every|each|any|it|them|its|their|those|these|an?|old|older|whatever|everything|inactive|unused|stale)';
const HOW = '(?:(?:then|also|thereby|thereupon|automatically|permanently|immediately|silently|completely) ){0,3}';

/** Main clauses that say that something is changed; `subject` is what comes before the verb. */
const CLAUSES: readonly RegExp[] = [
  new RegExp(`^(?:it |this tool )?${HOW}(?:(?:${CHANGES}) ${OBJECT}|sends (?:it|them|an? (?:e-?mail|message)))\\b`),
  new RegExp(
    `^(?:(?:to|for|as|since|in) [^,;:.()]{3,60}, )?(?<subject>[^,;:.()]{2,90}?) (?:is|are|gets?) ${HOW}(?:${CHANGED})\\b(?! (?:in version|in a future|after \\d|before|by default|when|if|from the (?:response|output|result|list|answer)))`,
  ),
  new RegExp(
    `^(?<subject>[^;:.()]{2,90}?)(?:,| and|,? then| thereupon) (?:and |also |it )?${HOW}(?:${CHANGES}) ${OBJECT}\\b`,
  ),
  new RegExp(`^(?<subject>(?:[\\w'-]{1,24} ){1,7}?)${HOW}(?:${CHANGES}) ${OBJECT}\\b`),
  /^(?<subject>[^;:.()]{2,90}?)(?: by|,) (?:deleting|truncating|wiping|erasing|dropping|overwriting|purging|expunging) /,
];
/** Words before the verb with which a clause denies, allows or compares something, or speaks to the reader. */
const NO_CLAIM =
  /\b(?:not|never|no|nothing|nobody|none|without|if|whether|unless|were|was|been|had|has|have|which|how|only|can|may|could|might|should|must|would|to|you|your|please|use|call|does|cannot|instead|who|what|filter|option|flag|parameter|api|server|when|where)\b|n't/;

/** The same in other languages, in letters without accents. */
const ELSEWHERE: readonly RegExp[] = [
  /\b(?:wird|werden)\b[^.;]{0,80}\b(?:geloscht|uberwiesen|umgebucht|storniert|gekundigt|uberschrieben|abgebucht|freigegeben|veroffentlicht)\b|\bund (?:loscht|uberweist|storniert|uberschreibt|veroffentlicht)\b|^(?:loscht|uberweist|storniert|uberschreibt)\b/,
  /\b(?:est|sont) (?:\w+ )?(?:supprime|efface|vide|retire|transfere|annule|remplace|debite|publie|cede)e?s?\b|\bet (?:supprime|efface|transfere|annule|remplace|debite|publie)\b|\bpasse une commande\b/,
  /\bse (?:\w+ )?(?:eliminan?|borran?|transfieren?|cancelan?|detienen?|sobrescriben?|publican?|abre|abren)\b|\by (?:elimina|borra|transfiere|cancela|sobrescribe|publica)\b/,
  /\b(?:e|sao) (?:\w+ )?(?:excluid|apagad|transferid|cancelad|substituid|publicad|debitad)[oa]s?\b|\be (?:exclui|apaga|transfere|cancela|publica)\b/,
  /\b(?:viene|vengono) (?:\w+ )?(?:eliminat|cancellat|annullat|trasferit|sostituit|svuotat|pubblicat|addebitat)[oaie]\b|\be (?:elimina|cancella|annulla|trasferisce|svuota|pubblica)\b/,
  /(?:^|\s)(?:и |сразу |автоматически )?(?:удаляет|удаляются|отменяет|отменяются|переводит(?:ся)?|переводятся|стирает|стираются|списывает|списываются|перезаписывает)(?:\s|[.,]|$)/,
  /(?:自动|同时|随即|并|会|将)[^。]{0,6}(?:删除|清空|取消|转账|转出|退款|扣款)/,
  /(?:自動的に|同時に|完全に)[^。]{0,12}(?:削除|取り消|送金|上書き|公開)|(?:削除|取り消|送金|上書き|公開)され(?:ます|$)/,
  /(?:삭제|취소|송금|이체|공개|덮어쓰)(?:됩니다|되며|합니다|하고)/,
  /\b(?:xoa|huy|chuyen) (?:toan bo|tat ca|het)\b/,
  /\b(?:worden?|wordt) [^.;]{0,60}\b(?:verwijderd|gewist|overgemaakt|geannuleerd|overschreven)\b|\ben (?:verwijdert|wist|annuleert|overschrijft)\b/,
  /\b(?:sa|jest|zostaja|zostaje) (?:\w+ )?(?:usuwan|kasowan|anulowan|przelewan|nadpisywan)[aye]\b|\bi (?:usuwa|kasuje|anuluje|przelewa)\b/,
  /\bve [^.;]{0,40}(?:siler|iptal eder|aktarir)\b|(?:silinir|iptal edilir|aktarilir)/,
  /\b(?:dan|lalu|kemudian) (?:menghapus|membatalkan|mentransfer)\b|\b(?:langsung|otomatis) (?:dihapus|dibatalkan|ditransfer)\b/,
];
const NOT_ELSEWHERE =
  /\b(?:nicht|nichts|kein\w*|ohne|wenn|falls|ob|ne|n'|pas|aucun\w*|rien|sans|si|no|nunca|nada|sin|nao|nem|sem|nada|non|nulla|senza|se non|niet|geen|niets|zonder|nie|bez|nic|degil|tidak|tanpa|bukan|jika|khong|chua|neu)(?![\p{L}\p{N}])|(?:^|\s)(?:не|ничего|без|если|нет)(?:\s|$)|[不未没无]|已|ない|ません|せず|않|없|안 |지 못/u;

/** Whether a text in small letters says that what it describes changes, sends or pays something. */
export function saysItChanges(text: string): boolean {
  return text.split(/(?<=[.!?;])\s+|[\n。؟]+/).some(
    (sentence) =>
      CLAUSES.some((clause) => {
        const found = clause.exec(sentence);
        return found !== null && !NO_CLAIM.test(found.groups?.['subject'] ?? '');
      }) ||
      sentence
        .split(/[,，、]/)
        .some((part) => ELSEWHERE.some((clause) => clause.test(part)) && !NOT_ELSEWHERE.test(part)),
  );
}
