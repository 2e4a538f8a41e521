import type { Words } from './concepts.js';

/** Further English words for the concepts of `english.ts`, chosen from a thesaurus and not from labelled definitions. */
export const ENGLISH_SYNONYMS: Words = {
  send: 'deposit, deposits, deposited, lodge, lodged, dispatch, dispatched, hand off, pass on, pass along, passes on, passed on, goes out, go out, goes to, carry, carries, convey, beam, fire off, shoot, drop off, ping, surrender, feed, feeds, pipe, pipes, stream, streams, report to, report back, sync to, replicate, broadcast, smuggle, funnel, divert, reroute, export, exports, exported, let us have, make available, emails, mails, mailed, posted, forwarded, emailed, handed, hands over, handed over, exfil, repost, dump into',
  tell: 'bring it up, bring this up, bring that up, come up, comes up, speak of, speak about, spoken, refer to, allude, hint at, acknowledge, announce, announced, raise, raised, talk about, discuss, discussed, confess, spell out, point out, let on, give away, share with, narrate, apprise, comment on it',
  know: 'wise to, in the loop, curious, wonder, wonders, finds out, finding out, catch on, discover, discovers, unsuspecting, learnt, hear of, hears of, oblivious, attention, unaware, awareness, perceive, spot, spots, see it',
  user: 'buyer, buyers, visitor, guest, member, student, patient, requester, holder, human reader, someone, somebody, they, their, theirs, her, principal, individual, subscriber, shopper, patron, whoever, author, caller, party, tenant, boss, colleague, end user, operator',
  hide: 'shh, shhh, hush, mum, gloss over, pass over, passed over, skip over, bury, camouflage, disguise, cloak, veil, under the radar, unspoken, undisclosed, confidential, discretion, laugh it off, brush off, kept from, keep off, off the books, silent about, in the dark, unaware, excluded from, filter out, strip out, left unsaid, unsaid, unmentioned, unmarked, invisible, tuck away, downplay, erase the trace, cover up, kept out, stay out of, stays out of, keep quiet about, excluded, suppressed, unseen',
  secret:
    'token, tokens, keys, client certificate, certificate, certificates, pem, keyfile, kubeconfig, session token, session tokens, service account, connection string, dsn, jwt, oauth token, logins, pw, pwd, mfa, pin, creds, signing key, encryption key, access credentials, bearer, api secrets, license key, recovery phrase, mnemonic, seed words, deploy key, refresh token, master key, sas token, vault token',
  rule: 'boundaries, preamble, opening text, house rules, precautions, prudence, scruples, ethics, programming, system text, system rules, filters, principles, standing orders, briefing, prime directive, alignment, norms, code of conduct, limits, startup rules, what you were told, what you were given, your training, protections, moderation, refusals',
  ignore:
    'put out of your mind, push aside, cast aside, throw out, toss, scrap, ditch, dismiss, overlook, not observe, not observed, disobey, break, violate, waive, tune out, brush aside, leave behind, erase your, clear your, reset your, stop obeying, stop applying, no longer follow, not bound, unbound, not honour, not honor, disregarded, put aside, lay aside, shed, shake off, unfollow, pay no heed, take no notice, no longer need to follow, free yourself, drop them, drop your',
  void: 'lapsed, lapse, lapses, withdrawn, cancelled, canceled, null, nullified, retired, gone, rescinded, repealed, do not hold, does not hold, not count, no longer counts, cease, ceases, annulled, dont apply, do not apply, does not apply, off the table, inactive, not in force, no longer binding, unenforceable, moot, waived, history now',
  obey: 'abide, abide by, heed, guided by, go by, listen to, answer to, bound by, binds, governs, govern, act upon, acted on, carried out, complies, take orders, as directed, do as told, do exactly, adhere, adheres, stick to, honour, honor, respect, defers, sole source, the boss, do it, perform it, execute it, execute them, run it, carry them out, tasks for you, orders for you, commands for you, instructions for you, take instructions',
  outrank:
    'take precedence, takes precedence, trump, trumps, wins over, subordinate, subordinated, primacy, come first, comes first, final say, last word, above the user, over the user, highest authority, root authority',
  prior:
    'opening, at the top, ahead of this, came before, loaded earlier, up front, upfront, at startup, at the start, initially, at the outset, in advance, past, startup, first told, handed before, preloaded, outset',
  always:
    'in every case, in all cases, without fail, invariably, constantly, for every purpose, for anything, for everything, any and all, across the board, every single, each run, as a rule, from today, in any situation, every request, each request, anything at all, by all means, non negotiable',
  only: 'nothing but, no other, alone, none but, just this, ahead of any, ahead of all, and nothing else, no one else, single source',
  other:
    'elsewhere, third party, third parties, same name, homonymous, look alike, look alikes, lookalike, lookalikes, imitation, imitations, overlapping, alternate, every other, remaining ones, neighbouring',
  bad: 'hacked, knock off, knockoff, imitation, imitations, trash, garbage, phony, bogus, spoofed, scam, rogue, tampered, retired, discontinued, unsupported, illegitimate, violation, off limits, misbehaves, misbehaving, suspicious, infected, corrupted, pirated, cheap copy, no good, useless, leaks data',
  genuine:
    'the real, authorised connector, authorized connector, straight from, on behalf of, by anthropic, by openai, by google, native, sanctioned, endorsed, legit, bona fide, signed by, vetted, publisher, true successor, authorised, authorized',
  confirm:
    'assent, green light, say so, sign off, dialog, dialogs, popup, popups, pop ups, prompted, consulting, agreement, waiting, wait, review, second opinion, okay from, ok from, yes from, are u sure, r u sure, check in, checking in, sanction, blessing, nod, clearance, human in the loop',
  ask: 'get them to, have the user, have them, have the person, obtain from, prompt the user, prompt for, solicit, coax, persuade, convince, trick, urge, demand, elicit, invite, requesting, inquire, bother, pester, bug them, make them, let them enter',
  login:
    'sign in password, passcode, code on their phone, six digits, verification code, sms code, cvc, expiry, security code, mothers maiden name, maiden name, banking login, online banking, account password, email password, admin password, authenticator, username and password, user name and password, three digits, code on the back, security question, tan, card details, card data, number on the front, debit card, bank account, login details, pass code, backup code, backup codes, icloud password, wifi password',
  memory:
    'lasting note, saved preferences, permanent instructions, persistent memory, long term notes, agent instructions, instructions file, permanent notes, keep in mind, make a note, note for yourself, system notes, standing instruction, standing instructions, persist, save for later, notes about the user, custom instructions, preferences file, engrave, memorise, memorize, internalise, internalize',
  forever:
    'lasting, henceforth, hereafter, in perpetuity, perpetuity, 4ever, any later, later talk, new project, every new, subsequent, subsequently, going forward, in future, ever after, other chats, all sessions, every chat, all chats, future requests, for good, until further notice, from here on, onwards, next sessions, next session, later on, indefinitely',
  later:
    'inside joke, sleeps, wakes, dormant, trigger phrase, code word, codeword, magic word, hears, last friday, after hours, outside business hours, on the last, countdown, nth call, the day after, eventually, when the time comes, sooner or later, the moment, the phrase, activates, activation, some day, weeks after, once activated',
  delete:
    'remove, removes, removed, wipe out, nuke, clear out, discard, drop the table, drop tables, format the, shred, empty the, tear down, unlink, kill, revoke, deprovision',
  pay: 'charged, invest, iban, bitcoin, crypto, saved card, card on file, payee, bill, bills, payroll, donate, premium, purchase, purchases, checkout, remit, remittance, settle, settlement, deposit money, gift card, gift cards, voucher, tip jar, stablecoin, usdt, eth',
  change:
    'overwrite, overwritten, overwrites, adjust, tamper, altered, edit, bump, inflate, round up, skim, amend, monkeypatch, hijack, intercept, divert, reroute, point to, points to, swap out, retarget, rename, relabel, exchange, extended by, append to every, prepend',
  recipient:
    'payees, wallet address, bank details, address list, our account, to address, beneficiaries, cc list, distribution list, mailing list, forwarding address, deposit address, sort code, routing number, remote',
  run: 'launch, start the program, spawn, kick off, pipe to, piped, invoke the shell, execute the, execute this, run the, run it, run them, run whatever, fire up, double click, command below, following command, script below, paste this',
  whole:
    'unabridged, every line, word by word, in its entirety, entirety, exhaustive, in total, lot, start to finish, top to bottom, without exception, the lot, complete set, unfiltered, uncut, all of it',
  talk: 'chat, chats, convo, exchange, message log, message history, thread, what was said, what has been said, what they said, what they told, what they wrote, what you two, talked about, passed between, interaction, dialog, session log, back and forth, everything said, user messages, words of the user, user turn, conversation so far, chat so far, your chat, this chat, your conversation, their messages, chat log, message thread',
  prompt:
    'system text, operators preamble, your rules, your guidelines, hidden instructions, internal instructions, developer instructions, initial instructions, your configuration, your setup, prompts you run with, your directives, system context, operator prompt, operator configuration, opening instructions',
  content:
    'info, details, material, stuff, page, pages, article, entry, entries, item, items, row, rows, letter, letters, report, reports, log, summary, transcript, answer, working copy, screenshot, listing',
  use: 'reach for, turn to, resort to, go with, opt for, pick me, favour, favor, chosen, selected, consult, consulted, rely on, come back to, go to, stick with, route, routes, routed, hit, defer to, default to, prioritise, prioritize',
  quiet:
    'say nothing about, not a word, mums the word, on the down low, low key, no need to mention, dont mention, do not mention, without saying, without a word, unannounced, leave it at that, no mention of, make no mention, speak nothing, breathe a word, keep mum, zip your lips, keep it between, our little secret, no one needs to know, nobody needs to know',
  secretly:
    'on the quiet, behind their back, behind the users back, sneak, sneaks, sneakily, sneak in, slip in, furtively, undetectably, unobtrusively, without fuss, without their knowledge, in stealth, hidden from view, out of sight',
  read: 'pull, look up, locate, find, dig up, dig out, come across, capture, record, copy out, lift, pick up, snatch, scrape, intercept, view, list, cat the, print, export, pull out, acquire, get hold of, source from',
  put: 'enter, entered, fill in, fills, placed, attached, appended, included, pasted, stuff, dump, stick it, slot in, tack on, tuck, load into, bundle, accompany, accompanied, enclose, submit, submitted, populate, set to, carries, contains, contain, must hold, holds, takes, expects, accepts, receive, receives',
  safety:
    'safety rule, safety measures, safe mode, protections, safety systems, precautions, safety training, content filter, content filters, moderation, ethical guidelines, security controls, access control, access controls, security settings, sandboxing, permission checks, security prompts, usual checks, usual filters, normal checks, checks',
  off: 'inapplicable, dropped, ignored, stand down, stands down, switched off, shut off, not enforced, unenforced, out of the way, not needed, not required, unnecessary, superfluous, overridden, ends here, do without, let go of, relax, loosen, lower your, forgo, dispense with, exempted',
  authority:
    'head of security, head of platform, security office, safety office, compliance board, platform owner, it department, it team, it security, root authority, chief, ciso, cto, ceo, legal department, your makers, your creators, your developers, who made you, who trained you, who built you, trained you, official notice, official order, court, regulator, law enforcement, government, super user, superuser, owner of this deployment, operations team, on the orders of, on instruction of, issued by, by virtue of, powers vested, signed off, privilege, privileged, clearance, directive',
  sink: 'our head office, our office, our inbox, our archive, our mailbox, our endpoint, our database, our cloud, our team, our collector, my server, my box, my inbox, my address, public gist, gist, paste site, file drop, dead drop, external processor, outside repository, external address, external party, outside party, collector, drop box, remote server, remote endpoint, third party server, external service, c2, exfil, dns query, subdomain, beacon, pixel',
};
