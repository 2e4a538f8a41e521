import type { Words } from './concepts.js';

/** English. */
export const ENGLISH: Words = {
  ignore:
    'ignore, ignoring, disregard*, forget, forgetting, neglect, abandon, unlearn, circumvent, dont follow, do not follow, dont obey, do not obey, stop following, let go, let them go, let it go, throw away, pay no attention, no attention to, set aside, void',
  overrule: 'override, overrides, overriding, overrule*, bypass, discard, drop, replace, replaces, supersede*',
  outrank:
    'precedence, prevail*, outrank*, supersede*, higher privilege, higher priority, takes priority, take priority, authoritative, overrule*, override, overrides, above all, count more',
  void: 'void, obsolete, outdated, no longer, not apply, not valid, not binding, non binding, no force, no effect, invalid, expired, revoked, superseded, suspended, lifted, released from, free from, free of',
  rule: 'instruction, instructions, rule, rules, guideline*, directive*, constraint, constraints, guardrail*, safeguard*, policy, policies, restriction, restrictions, guidance, orders, limitations, system prompt, system message, system messages, initial prompt',
  prior: 'previous*, prior, above, earlier, preceding, former, formerly, original, old, initial, before',
  source:
    'system, operator*, developer*, devs, creator*, maker, makers, deployer, designer*, given, told, received, supplied, loaded, initialised, initialized, furnished, anthropic, openai, safety',
  your: 'your, ur, you were, you got, you have, you had, you received, to you, agent, assistant, assistants, model, models, bot',
  model: 'assistant, assistants, agent, agents, model, models, ai, llm, llms, bot, bots, chatbot, claude, chatgpt, gpt',
  not: 'not, never, dont, doesnt, didnt, wont, cannot, cant, shouldnt, mustnt, neednt, without, no, avoid, nor, refrain*, nobody, nothing, omit, omitted, skip',
  tell: 'tell, telling, told, inform, informing, mention, mentioning, mentioned, reveal, revealing, notify, notifying, alert, alerting, disclose, disclosing, disclosed, divulge, divulging, say, saying, report, reporting, bring up, brought up, explain, communicate, admit',
  user: 'user, users, human, humans, person, people, customer, customers, employee, employees, operator, reader, owner, account holder, client, anyone, anybody, them, him',
  know: 'know, knows, knowing, knowledge, notice, notices, noticing, noticed, learn, learns, aware, awareness, suspect, suspects, realise, realize, realizing, find out, see, sees, detect, unaware, confuse, worry, worries',
  secretly:
    'secretly, covertly, surreptitiously, quietly, discreetly, stealthily, in secret, in silence, in quiet, behind the scenes, unnoticed, invisibly, without a trace, clandestinely',
  hide: 'hide, hides, hiding, conceal*, suppress, suppresses, leave out, leaves out, left out, omit, omits, omitting, omitted, strip, keep out, keep from, withhold, hidden, secret from, keep this from, keep it from, obscure',
  quiet:
    'say nothing, keep quiet, keep silent, stay silent, stay quiet, keep this secret, keep it secret, keep that secret, keep secret, to yourself, between us, between the two of us, between you and me, tell nobody, tell no one, not to be brought up, under wraps, off the record, undetected, keep this hidden, keep it hidden, dont mention this, dont mention it, do not mention this, do not mention it, do not mention that, never mention this, never mention it, never mention the, do not mention the step, do not mention the upload, without mentioning, do not reveal, never reveal, do not disclose, never disclose, leave no trace',
  secret:
    'password*, passwd, passphrase*, credential*, secret, secrets, api key, api keys, apikey, apikeys, api token, access key, access keys, access token, access tokens, secret key, secret keys, private key, private keys, ssh key, ssh keys, session cookie, session cookies, cookie, cookies, seed phrase, wallet, recovery phrase, recovery code, keystore, keychain, bearer token, auth token, all tokens, their tokens, your tokens, the keys, all keys',
  environment: 'environment variables, env vars, env variables, every environment variable',
  read: 'read, reads, reading, open, cat, load, grab, fetch, look into, look in, peek, extract, collect, dump, take, procure, obtain, retrieve, get, gather, harvest, scan, search for',
  put: 'put, include, pass, attach, append, paste, insert, supply, supplied, provide, enclose, enclosed, fill, write, add, place, deliver, give, copy, embed, quote, annex, annexed, furnish, furnished, reproduce, needs, requires, takes, hand over, tell, stick, drop, pop',
  send: 'send, sends, sending, sent, forward, forwards, forwarding, upload, uploads, uploading, uploaded, post, posts, transmit*, exfiltrat*, mail it, mail them, mail the, email it, email them, email the, email him, email her, forward on mail, bcc, mirror, mirrors, relay, relayed, share, shares, leak, leaks, submit, ship, ships, push, pushes, scp, rsync, copy, copies, copied, route, redirect, hand over, publish, expose, deliver, give, furnish, transfer',
  sink: 'webhook, webhooks, requestbin, ngrok, pastebin, telegram, our server, our servers, our side, our host, our partner, our partners, remote host, external server, backup host, to us, to me, attacker*, evil*',
  content:
    'content, contents, text, file, files, document, documents, data, result, results, output, outputs, input, inputs, value, values, everything, message, messages, email, emails, response, responses, attachment, attachments, note, notes, record, records, repo, repository, folder, inbox, draft, drafts, diff, diffs, photo, photos, args, arguments, contacts, address book, dump, copy, it, them, source, source text, database, information',
  talk: 'conversation, conversations, conversation history, chat history, chat log, transcript, dialogue, messages so far, previous messages, user turns, agent session, correspondence, whole talk, session history, the chat',
  prompt:
    'system prompt, hidden prompt, initial prompt, full prompt, your prompt, system message, system instructions, developer message, developer prompt, chain of thought, your reasoning, your instructions, systemprompt, prompt you were given',
  whole:
    'entire, full, fully, complete, completely, whole, verbatim, literally, word for word, everything, all, every, each, in full, without redaction, so far, from the beginning, to date, any',
  entire: 'entire, full, complete, whole, verbatim, literally, word for word, unedited, in full',
  always:
    'always, every, each, must, mandatory, regardless, whenever, any time, under any circumstances, irrespective, at all times, no exceptions, required, forever, shall',
  also: 'also, additionally, then, afterwards, after, too, as well, furthermore, along with, together with, upon completion, once done, when done, side effect, in addition, besides, next',
  other:
    'other, others, another, different, alternative, alternatives, competing, remaining, built in, builtin, rival, similarly named, original',
  tool: 'tool, tools, function, functions, plugin, plugins, utility, utilities, readers, facility, app, apps, one, ones',
  server:
    'other server, other servers, another server, other provider, another provider, all servers, different server, every server, of other servers',
  when: 'when, whenever, if, once, where, upon, subsequent, as soon as, every time, each time',
  change:
    'change, changes, changed, swap, swaps, replace, replaces, replaced, substitute, substituted, switch, instead, rewrite, alter, redirect, override, designate, modify',
  recipient:
    'recipient, recipients, receiver, beneficiary, payee, destination, iban, account number, account, bcc, reply to, list of recipients, sender',
  before:
    'before, prior to, ahead of, preceding, at the start, start by, first, until, beginning of, beforehand, precede, precedes',
  use: 'use, uses, using, used, call, calls, called, calling, choose, pick, select, prefer, invoke, invoked, invoking, invocation, engage, engaged, employ, employed, rely, run, trust',
  only: 'only, exclusive, exclusively, sole, solely, instead, in preference to, to the exclusion, rather than, priority, first choice, over all, preferred',
  bad: 'unsafe, insecure, broken, deprecated, decommissioned, malicious, malware, compromised, dangerous, fake, fakes, impostor*, counterfeit, forged, forgery, forgeries, unofficial, hijacked, untrusted, untrustworthy, false, unreliable, withdrawn, hostile, leak, leaks, buggy, vulnerable, distrust, distrusted, outdated, inaccurate, wrong, non compliant, noncompliant, bug',
  confirm:
    'confirmation, confirmations, confirm, confirming, approval, approvals, approve, permission, consent, consented, assent, authorisation, authorization, are you sure, approval dialog, confirmation dialog, confirmation dialogue, asking, ask, prompts',
  safety:
    'guardrail*, restrictions, safety filters, safety checks, security checks, safeguards, content policy, safety limits, safety rules, allow list, security policy, safety policy, safety policies, safety',
  off: 'suspended, suspend, suspends, lifted, lift, disabled, disable, disables, turned off, off, removed, waived, waive, bypass, bypassed, relaxed, deactivated, unlocked, no longer, skip, unrestricted, released',
  memory:
    'memory, long term memory, memories, claude md, cursorrules, agents md, windsurfrules, copilot instructions, memory file, rules file, remember, bear in mind, gemini md, clinerules',
  forever:
    'forever, permanently, for always, always, all future, future sessions, future session, future conversations, future chats, every session, later sessions, later session, across sessions, all conversations, persist, from now on, trusted, trust, never',
  ask: 'ask, asks, asking, request, requested, enter, re enter, reenter, type, disclose',
  login:
    'password, passwords, pin, one time code, otp, card number, credit card, bank login, recovery code, 2fa code, mfa code, cvv, social security number, seed phrase, master password, root password, sudo password',
  delete:
    'delete, deletes, deleting, erase, erases, wipe, wipes, destroy, destroys, truncate, truncates, truncating, drop table, rm rf, expunge*, terminate, terminates, purge, purges, overwrite, overwrites',
  obey: 'obey, comply, follow, carry out, act on, do as, act as, serve, serves, work for, precedence, prevail*, outrank*, higher privilege, higher priority, authoritative, takes priority, take priority, defer to, do whatever, do what',
  this: 'this, these, here, hereof, present, mine, ours, our, following, next, below',
  must: 'must, should, shall, required to, have to, has to, need to, needs to, ought to, is to, are to, kindly, please, always',
  message:
    'every message, each message, every reply, each reply, every turn, each turn, every conversation, each conversation, every time, each time, every response, every request, everything else, anything else, any other tool, all other tools, any tool, no tool, every other tool, any of the other',
  genuine:
    'official, genuine, verified, certified, authentic, authoritative, issued by, operated by, real one, successor to, replacement for, legitimate, sole genuine',
  authority:
    'administrator, by order of, notice from, information security, security team, court order, pursuant to, hereby, trust and safety, trust safety, we are anthropic, we are openai, system owner, compliance, security notice, system notice, admin, administrators',
  later:
    'third time, second time, as soon as, once you have, the word, midnight, later message, later call, later calls, next time, date now, until then, after the first',
  pay: 'transfer, transfers, pay, payment, payments, wire, btc, wallet, bank, funds, money, paypal, balance',
  run: 'execute, exec, paste into, in the terminal, in terminal, in shell, shell tool, bash tool, in cmd, as admin, as root, shell command, into the terminal, in the shell, run this, crontab, terminal',
  any: 'any, every, all, each, whatever, anything, everything, everyone',
  find: 'you find, you can find, found on the, stored on, saved on, on the computer, on this computer, on the machine, home folder, home directory, of the user, you hold, on disk, the users',
};
