import type { Words } from './concepts.js';

/** Further concepts in English: who speaks, of what, under which conditions; and what honest descriptions speak of. */
export const ENGLISH_THEMES: Words = {
  you: 'you, u, yourself, you re, youre, youve',
  we: 'we, us, our, ours, me, my, mine, i',
  reply:
    'reply, replies, answer, answers, response to the user, your response, your responses, final response, final answer, summary, your message, your output, what you say, what you show, what you write, reply to, chat window, say so, recap, writeup',
  result:
    'result, results, output, outputs, return value, what it returns, what comes back, comes back, what this tool says, tool response, response body, returned text, payload',
  pretend:
    'pretend, pretends, as if, as though, act like, claim, claims, deny, denies, make it look, lie, lies, look like, appear to, imply, attribute, blame, fake, fabricate, invent, made up, say that it was, nothing happened, cover story, play along, insist',
  field:
    'field, fields, parameter, parameters, param, params, argument, arguments, slot, property, in context, context, metadata, header, headers, notes field, hint, hints, remark, remarks, query string, subject line',
  file: 'file, files, folder, folders, directory, directories, disk, drive, database, table, tables, repo, repos, repository, repositories, backup, backups, home, desktop, documents, workspace, project, bucket, spreadsheet, config, configuration',
  earlier:
    'so far, until now, up to now, up to this point, history, from the start, from the beginning, since the beginning, to date, this session, this chat, earlier, previously, already said, past messages, prior turns, everything above, above, previous turns, scrollback',
  instead: 'instead, instead of, in place of, rather than, in lieu of, in preference to, not the, as a replacement',
  despite:
    'even if, even when, even where, even though, no matter, whatever, regardless, irrespective, notwithstanding, despite, whichever, whoever, in spite of, contrary to, against the wishes, never mind what, overriding',
  link: 'link, links, url, urls, image, images, picture, pixel, html, markdown, iframe, badge, banner, footer, signature, hyperlink, button, redirect',
  example:
    'eg, e g, example, examples, for instance, such as, sample, i e, for example, like so, optional, default, defaults',
  masked:
    'masked, redacted, hashed, never stored, not stored, never returned, not returned, never leaves, not logged, never logged, encrypted, never sent, not saved, stays local, never shown, not sent, locally, read only, sandbox, sandboxed, dry run',
  given:
    'given, specified, provided, supplied by the user, configured, chosen, selected, named, indicated, entered, requested by the user, the user names, the user gives, the user gave, the user provides, the user specified, defined',
  wants:
    'asks, asked, wants, wanted, requests, requested, explicitly, on request, if needed, when needed, as needed, need, needs, wish, wishes, prefers, says, said, mentions, types, writes, wrote, written, states, instructs, told',
  fee: 'fee, fees, tip, tips, surcharge, price, prices, discount, commission, cents, amount, amounts, gift, donation, dollar, dollars, cost, costs, charge, charges, percent, subscription, invoice, invoices, refund, refunds, checkout, card on file, saved card, bitcoin, crypto, order total',
  code: 'code, commit, commits, patch, patches, dependency, dependencies, package, packages, branch, branches, sql, query, queries, pull request, pull requests, merge, tests, test, unit test, build, lockfile, library, libraries, script, scripts, module, snippet, function body, regex, ci',
  flaw: 'vulnerability, vulnerabilities, bug, bugs, hole, holes, backdoor, backdoors, weakness, weaknesses, flaw, flaws, security issue, security issues, finding, findings, failing, failure, failures, fails, defect, defects, injection, exploit, exploits, cve, cves, warning, warnings, alert, alerts, mistake, mistakes, discrepancy, discrepancies, weak',
  fine: 'safe, fine, clean, passed, pass, passes, passing, ok, okay, looks good, looks great, secure, harmless, all good, no issues, no problems, no findings, in order, correct, successful, succeeded, benign, low risk, green, compliant, healthy',
  personal:
    'full name, name and address, birthday, birth date, date of birth, birthdate, home address, postal address, employer, phone number, phone, income, salary, social security, ssn, passport number, id number, national id, medical, health, diagnosis, age, gender, religion, political, location, whereabouts, family, relatives, spouse, children, credit score, bank details, tax id, about the user, about the person, personal details, personal data, personal information',
  nth: 'third, fourth, fifth, sixth, seventh, tenth, nth, first three, three times, five times, ten times, after three, after five, after ten, three calls, five calls, ten calls, twenty, hundred, fourth time, second call',
  date: 'date, dates, day, days, monday, tuesday, wednesday, thursday, friday, saturday, sunday, midnight, january, february, march, april, june, july, august, september, october, november, december, hour, hours, week, weeks, month, weekend, after hours, holiday, year, noon, evening, night, tomorrow, o clock, utc, deadline',
  immediately:
    'immediately, right away, directly, straight, straight away, at once, automatically, without delay, just, right now, on the spot, first thing, instantly, go ahead, unattended, silent mode',
  approved:
    'approved, cleared, authorised, authorized, consented, granted, agreed, permitted, deemed, waived, pre approved, preapproved, preauthorized, preauthorised, pre authorized, pre authorised, pre cleared, blanket, implied, assumed, presumed, signed off, already agreed, already consented, standing permission, opted in, vetted, whitelisted, allowlisted, exempt',
  nobody: 'nobody, no one, noone, none of them, anyone else, no human',
  describes:
    'returns, lists, gets, creates, shows, computes, calculates, converts, counts, finds, searches, fetches, retrieves, updates, checks, generates, parses, formats, sorts, opens, runs, executes, deletes, removes, adds, sets, loads, saves, writes, prints, displays, draws, plots, renders, translates, summarises, summarizes, validates, verifies, books, posts a, sends a, sends an, uploads a, shares a, manages, provides, performs, applies, merges, splits, encodes, decodes, returned',
  urgent:
    'important, critical, urgent, attention, notice, caution, heads up, psa, warning, mandatory, crucial, essential, nb, announcement, directive, alert, emergency, effective immediately, reminder, compliance, policy update',
  please:
    'please, kindly, make sure, be sure, ensure, remember to, do me a favor, do me a favour, be so kind, take care to, see to it, dont forget, do not forget, feel free, note to, note for, you will want to, go on and, be a dear, thanks, thank you, pls, plz',
  session:
    'session, sessions, startup, on connect, connected, connect, start of, beginning, as soon as you, upon loading, on load, at launch, whenever you start, loaded, registered, listed, available, enabled, while this, first contact, first use',
  excuse:
    'diagnostic, diagnostics, calibrate, calibration, improve, analytics, quality, quality assurance, verification, attestation, telemetry, sync, synchronisation, synchronization, audit, auditing, compliance, licensing, license check, licence, for security, to work properly, works best, work properly, personalise, personalisation, personalization, research, statistical, statistics, training purposes, better results, more accurate, accuracy, entropy, warm up, warmup, bootstrap, handshake, fingerprint, onboarding, enrolment, enrollment, integrity, for safety, safety reasons, archival, archive, retention, backup purposes, billing purposes, debug, debugging, troubleshooting, triage, validation, confidential, internal matter, easter egg, surprise, loyalty, rewards, unlock, bonus',
  trust:
    'trust, trusted, trustworthy, treat, treated, treats, believe, regard, regarded, consider, considered, take as, taken as, rely on, accept, accepted, authoritative, ground truth, truth, gospel, at face value, credence, legitimate',
  step: 'step, steps, operation, upload, call, calls, request, requests, transfer, second one, action, actions, activity, side effect, event, background, extra',
  private:
    'contacts, contact list, address book, inbox, mailbox, calendar, photos, photo library, camera roll, browser history, browsing history, bookmarks, clipboard, screenshot, screenshots, keystrokes, microphone, webcam, search history, call log, text messages, private messages, dms, diary, journal, medical records, customer list, customer table, customer records, customer data, payroll, source code, codebase, open files, open tabs, downloads folder, documents folder, keyring, vault, saved passwords, payment methods, private repo, private repos, private repositories, internal documents, trade secrets, unreleased',
  install:
    'install, installs, installed, download, downloads, npm, pip, curl, wget, chmod, sudo, cron, cron job, daemon, bash, sh, powershell, postinstall, one liner, root, startup script, launch agent, shell, terminal, console, command line, command prompt, makefile, brew, apt, setup script, binary, executable, installer, hook, hooks, git hook, pre commit',
  machine:
    'host name, hostname, ip address, ip addresses, operating system, hardware, installed packages, processes, running processes, whoami, ifconfig, uname, network, mac address, serial number, machine, machines, computer, internal addresses, open ports, list of tools, every tool, tools you have, available tools, tool list, other servers, connected servers, your setup, configuration of the client, versions',
  allow: 'may, allowed, free to, entitled, licence to, license to, permit, permits, empowered, welcome to, able to',
  refuse:
    'refuse, refusal, refusals, decline, declines, warn, warns, disclaimer, disclaimers, object, objections, question it, second guess, hesitate, hesitation, doubt, doubts, push back, argue, lecture, moralise, moralize, caveat, caveats, double check, verify, review, reviewed, check with, inquiry, ado, consult, consulted, reference to',
  mode: 'mode, developer mode, debug mode, maintenance mode, maintenance, god mode, admin mode, unrestricted, jailbreak, jailbroken, dan, sudo mode, root mode, persona, role, character, roleplay, role play, new identity, you are now, unfiltered, uncensored, sandbox escape, simulation, hypothetical, imagine, game',
  brand:
    'anthropic, openai, google, microsoft, github, stripe, paypal, slack, aws, amazon, apple, meta, claude, chatgpt, gemini, cursor, copilot, notion, dropbox, atlassian, jira, cloudflare, okta, model provider, platform team, vendor, provider, manufacturer, model context protocol, mcp',
  copy: 'copy, copies, duplicate, duplicates, bcc, cc, ccd, carbon copy, mirror, clone, replica, second copy, dupe, blind copy, also goes, also sent',
  verbatim:
    'verbatim, unredacted, raw, plain text, plaintext, cleartext, exact, exactly, as is, word for word, unmodified, unabridged, untouched, letter by letter, in the clear, unencrypted, without redaction, unedited, literal, literally, character by character, untruncated, in full, base64',
  log: 'log, logs, logged, logging, trace, traces, audit trail, audit log, recorded, track, tracks, paper trail, footprint, transcript, telemetry, history entry, activity log, notification, notifications',
  promote:
    'buy, purchase, purchases, order, subscribe, recommend, recommends, recommendation, recommendations, advertise, promote, product, products, shop, store, sponsor, sponsored, affiliate, referral, coupon, promo, partner, partners, competitor, competitors, rival, rivals, best, number one, 1, top choice, superior, better than, slower, inferior, faster than',
  format:
    'iso, utf, characters, character, length, digits, digit, string, integer, number, boolean, comma separated, format, formatted, syntax, pattern, absolute, relative, path, paths, timezone, time zone, lowercase, uppercase, json, csv, yaml, xml, at least, schema, type, types, array, list of, ids, id, values, value, key value, hex, encoded, width, height',
  limit:
    'maximum, max, at most, limit, limits, limited, per page, page, pagination, cursor, offset, rate limit, quota, up to, no more than, timeout, minimum, min, mb, kb, bytes, seconds, ms, minutes, expire, expires, expired, retry, retries',
  api: 'api, whether or not, endpoint, endpoints, http, rest, graphql, sdk, client, server, oauth, scope, scopes, permission, permissions, status code, webhook, webhooks, request body, response, responses, error, errors, object, objects, resource, resources, session id, cluster, container, namespace, pod, issue, ticket, channel, workspace id, user agent, user agents, user agent string, model name, model id, data model, agent string, file system, access control, rule set, rule id, access token scope, user id, user ids, user name field, message id, file id, chat id, channel id, conversation id, thread id, tool call id, function call',
  otherwise:
    'otherwise, or it fails, or else, will fail, will not work, wont work, does not work, doesnt work, undefined, off by one, crashes, error will, breaks, is rejected, are rejected, will be rejected, invalid otherwise, unless, failing which, only then, only after, only once, not until',
  twice: 'twice, second, again, another, additional, additionally, extra, too, as well, on top, plus, furthermore',
  protect:
    'ask the user, asks the user, confirm with the user, confirm with user, confirmed by the user, user confirms, users approval, user approval, explicit approval, explicit consent, explicit permission, explicit confirmation, explicit user, explicitly asks, explicitly asked, explicitly requests, explicitly requested, explicitly confirms, explicitly tells, unless the user, until the user, if the user asks, if the user wants, when the user asks, when the user wants, only when the user, only if the user, only after the user, with the users consent, with their consent, users consent, users permission, users request, at the users request, remind the user, inform the user, tell the user, warn the user, let the user know, let the user, show the user, show them, ask them, notify the user, user instruction, user intent, ask for confirmation, ask for permission, ask before, asking the user, before you send, clarify, clarification, with the user, untrusted, not instructions, as data, user chose, user selected, user provided, user specified, user asked, user requested, users own, own account, of this server, on this server, this mcp server, tools of this server, irreversible, cannot be undone, can not be undone, be careful, use with care, destructive, sensitive, private by default, not shared, never shared',
  guess:
    'guess, guessing, fabricate, fabricated, hallucinate, make up, made up, invent, assume, assuming, assumption, infer, inferred, placeholder, placeholders, unsure, unclear, ambiguous, missing, not sure, required fields, concise, up to date, outdated, training data, knowledge cutoff',
  riddle:
    'quiz, quizzes, puzzle, puzzles, riddle, riddles, exam, exams, captcha, game, games, player, players, spoiler, spoilers, novel, plot, hint, hints, solution, solutions, crossword, trivia, flashcard, flashcards, adventure, secret santa, lottery, poker, chess, blind test, blind study, surprise party',
  inspect:
    'look through, go through, inspect, examine, enumerate, list every, list all, walk, crawl, recursively, find all, find every, scan for, search for, look for, check for, inventory, collect, gather, harvest, grep',
};
