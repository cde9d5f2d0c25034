// The script of the console: live updates, keys, and the time that is left. Every page works without it.
// It makes no markup of its own. A page that has changed is fetched again, and what differs is replaced:
//
//   data-live="name"   a part that is replaced when it has another text
//   data-list="noun"   a list whose items, data-id, are updated in place; new ones are announced
//   data-expires       the time at which a request is refused
//   data-key="a"       what the key acts on: the first press focuses it, the second one acts
"use strict";
(() => {
  const body = document.body;
  const events = body.dataset.events; // where the stream is; nothing for who is not signed in
  const lowest = 500; // milliseconds between two loads of the page
  const again = 5000; // and of a page on which something waits: an answer may come to be refused without an event
  const kinds = [
    "stream.opened", "stream.lagged", "approval.requested", "approval.decided", "approval.expiring", "approval.ended",
    "tool.invoked", "tool.validated", "tool.authorized", "tool.denied", "tool.started", "tool.output", "tool.retrying",
    "tool.completed", "tool.failed", "tool.aborted", "tool.rolled_back", "tool.stale", "tool.orphaned", "tool.unknown",
    "tool.reconciled", "tool.undone", "tool.undo_failed", "tool.late_result", "tool.lingering",
  ];
  const all = (selector, of = document) => [...of.querySelectorAll(selector)];
  const one = (selector, of = document) => of.querySelector(selector);

  // --- What a page says.

  // The one policy of trusted types. A page of this host is parsed, and its scripts do not run.
  const trusted = window.trustedTypes
    ? window.trustedTypes.createPolicy("ambit", { createHTML: (text) => text })
    : { createHTML: (text) => text };

  const said = one("#said");
  const news = one("#news");

  // say tells a screen reader.
  function say(text) {
    if (said && text) said.textContent = text;
  }

  // tell shows a line at the edge of the page, with a link that loads the page again.
  function tell(text, link) {
    if (!news || news.firstChild?.textContent === text + " ") return;
    news.replaceChildren(document.createTextNode(text + " "));
    const a = document.createElement("a");
    a.className = "button";
    a.href = location.href;
    a.textContent = link;
    news.append(a);
    news.hidden = false;
    say(text);
  }

  const plural = (n, noun) => `${n} new ${n === 1 ? noun : `${noun}s`.replace(/ys$/, "ies")}`;

  // --- The time that is left.

  // span is a duration by its two largest units, as the pages have it.
  function span(seconds) {
    const units = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
    const parts = [];
    for (const [name, size] of units) {
      const n = Math.floor(seconds / size);
      seconds -= n * size;
      if (n > 0 && parts.length < 2) parts.push(`${n} ${name}`);
    }
    return parts.length > 0 ? parts.join(" ") : "0 s";
  }

  // count writes the time that is left, and reports whether that of a request has come to its end.
  function count(of) {
    let over = false;
    for (const e of all("[data-expires]", of)) {
      const left = Math.floor((Date.parse(e.dataset.expires) - Date.now()) / 1000) + 1; // the page has whole seconds
      if (Number.isNaN(left)) continue;
      const text = left > 0 ? `${span(left)} left` : "the time is over";
      if (e.textContent === text) continue;
      e.textContent = text;
      over ||= left <= 0;
    }
    return over;
  }

  // --- The page as it is now.

  let signedOut = false;
  let loading = false;
  let wanted = false; // while it is loading, or hidden
  let loaded = Date.now(); // when the last load began
  let timer = 0;

  const isLive = () => one("[data-live], [data-list]") !== null;

  // want asks for the page as it is now.
  function want() {
    if (signedOut || !isLive()) return;
    if (loading || document.visibilityState === "hidden") {
      wanted = true;
      return;
    }
    clearTimeout(timer);
    timer = setTimeout(load, Math.max(0, loaded + lowest - Date.now()));
  }

  async function load() {
    if (loading) return;
    loading = true;
    wanted = false;
    loaded = Date.now();
    try {
      const answer = await fetch(location.href, { headers: { Accept: "text/html" }, redirect: "error" });
      if (answer.status === 401) leave();
      else if (answer.ok) update(new DOMParser().parseFromString(trusted.createHTML(await answer.text()), "text/html"));
    } catch {
      // The application is gone. When it is back the stream opens again, and asks for the page.
    }
    loading = false;
    if (wanted) want();
  }

  // leave tells that the browser is not signed in any more.
  function leave() {
    if (signedOut) return;
    signedOut = true;
    tell("You are signed out. What you see is not updated any more.", "Sign in");
  }

  // changed tells that the page is about other arguments now. They do not come into their place: a button
  // that is about to be pressed would be for what nobody has read. An answer to the old ones is refused.
  function changed() {
    for (const e of all('[data-live="answer"] [value="approve"]')) e.disabled = true;
    tell("The arguments were changed. What you see would not be approved.", "Show them");
  }

  function update(fresh) {
    const binding = one("[data-binding]")?.dataset.binding;
    if (binding !== undefined && binding !== one("[data-binding]", fresh)?.dataset.binding) {
      changed();
      return;
    }
    count();
    count(fresh);
    for (const list of all("[data-list]")) merge(list, one(`[data-list="${list.dataset.list}"]`, fresh));
    for (const part of all("[data-live]")) {
      const next = one(`[data-live="${part.dataset.live}"]`, fresh);
      if (next && next.outerHTML !== shape(part)) replace(part, next);
    }
  }

  // shape is the markup of a part, without what the person has done to it.
  function shape(part) {
    const copy = part.cloneNode(true);
    for (const d of all("details[open]", copy)) if (!d.hasAttribute("data-open")) d.open = false;
    return copy.outerHTML;
  }

  // replace puts a part in the place of its former self. What was typed, chosen and opened stays, and the
  // focus too.
  function replace(part, next) {
    const active = part.contains(document.activeElement) ? document.activeElement : null;
    const fields = (of) => all("input:not([type=hidden]), select, textarea, summary, button, a", of);
    const name = (e) => [e.tagName, e.name, e.type, e.type === "radio" || e.tagName === "BUTTON" ? e.value : "", e.getAttribute("href"), e.tagName === "SUMMARY" ? e.textContent : ""].join("\n");
    const old = new Map(fields(part).map((e) => [name(e), e]));
    next = document.adoptNode(next);
    let focus = null;
    for (const e of fields(next)) {
      const was = old.get(name(e));
      if (!was) continue;
      if (was === active) focus = e;
      if (e.tagName === "SUMMARY") e.parentElement.open = was.parentElement.open;
      else if (e.type === "checkbox" || e.type === "radio") e.checked = was.checked;
      else if (e.tagName === "INPUT" || e.tagName === "SELECT" || e.tagName === "TEXTAREA") e.value = was.value;
    }
    const [from, to] = active && active.tagName === "INPUT" ? [active.selectionStart, active.selectionEnd] : [null, null];
    const before = one("[data-say]", part)?.textContent;
    part.replaceWith(next);
    if (focus) {
      focus.focus({ preventScroll: true });
      if (from !== null && focus.setSelectionRange) focus.setSelectionRange(from, to);
    } else if (active) {
      one("#main")?.focus({ preventScroll: true });
    }
    const after = one("[data-say]", next)?.textContent;
    if (after !== before) say(after);
  }

  // merge updates the items of a list where they are. None is put in or taken out, so that nothing moves
  // under the pointer: what is new is announced, and what is gone is marked.
  function merge(list, fresh) {
    const now = new Map(fresh ? all("[data-id]", fresh).map((e) => [e.dataset.id, e]) : []);
    const here = new Set();
    // Of a page that is full, what comes after its last item may be on the next page.
    const last = fresh && fresh.dataset.more ? Math.max(...[...now.values()].map((e) => Number(e.dataset.at))) : Infinity;
    for (const item of all("[data-id]", list)) {
      here.add(item.dataset.id);
      const next = now.get(item.dataset.id);
      if (next) {
        if (next.outerHTML !== shape(item)) replace(item, next);
      } else if (list.hasAttribute("data-gone") && Number(item.dataset.at) <= last) {
        gone(item, list.dataset.gone);
      }
    }
    const added = [...now.keys()].filter((id) => !here.has(id)).length;
    if (added > 0) tell(plural(added, list.dataset.list), "Show");
  }

  // gone marks an item that is not in the list any more.
  function gone(item, words) {
    if (item.classList.contains("gone")) return;
    item.classList.add("gone");
    const state = one("[data-state]", item);
    if (state) state.textContent = words;
    say(`${one("h2", item)?.textContent ?? ""}: ${words}`);
  }

  // --- The stream, of which there is one in a browser: a host takes six connections of it.

  const channel = "BroadcastChannel" in window ? new BroadcastChannel("ambit " + events) : null;

  // heard is told of each event. Only its type and subject are looked at, and the text of live output.
  function heard(e) {
    if (e.type === "signed out") leave();
    else if (e.text !== undefined) output(e);
    else want();
  }

  function publish(e) {
    channel?.postMessage(e);
    heard(e);
  }

  // follow opens the stream, and returns when it has ended for good.
  function follow(publish) {
    return new Promise((done) => {
      const stream = new EventSource(events);
      for (const kind of kinds) {
        stream.addEventListener(kind, (e) => {
          let it = {};
          try {
            it = JSON.parse(e.data);
          } catch {
            // what cannot be read is a reason to look, too
          }
          const live = kind === "tool.output" && typeof it.data?.text === "string";
          const piece = live ? { text: it.data.text, stream: String(it.data.stream ?? ""), attempt: it.data.attempt, end: it.data.end } : {};
          publish({ type: kind, subject: String(it.subject), ...piece });
        });
      }
      stream.onerror = async () => {
        if (stream.readyState !== EventSource.CLOSED) return; // it connects again by itself
        const answer = await fetch(location.href, { method: "HEAD", headers: { Accept: "text/html" } }).catch(() => null);
        if (answer?.status === 401) publish({ type: "signed out" });
        setTimeout(done, again);
      };
      window.addEventListener("pagehide", () => stream.close());
    });
  }

  async function lead() {
    while (!signedOut) await follow(publish);
  }

  function listen() {
    if (!events || !("EventSource" in window)) return;
    if (channel) channel.onmessage = (e) => heard(e.data);
    want(); // something may have come since the page was made
    if (channel && navigator.locks) navigator.locks.request("ambit " + events, lead).catch(() => {});
    else lead(); // the page is no secure context: each tab has a stream
  }

  // --- Live output of the call that the page shows.

  const unseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

  // output appends a piece, legible as the pages are, and keeps the last part of it. What the page had of the
  // process when it was made is not appended again.
  function output(e) {
    const box = all("[data-output]").find((b) => b.dataset.output === e.subject && b.dataset.stream === e.stream);
    if (!box) return;
    if (e.stream) {
      if (e.attempt === Number(box.dataset.attempt) && e.end <= Number(box.dataset.end)) return;
      box.dataset.attempt = e.attempt;
      box.dataset.end = e.end;
    }
    const place = one("pre", box);
    const most = 20000;
    const text = e.text.replace(unseen, (c) => `\\u{${c.codePointAt(0).toString(16).toUpperCase()}}`);
    place.textContent = (place.textContent + text).slice(-most);
    box.hidden = false;
  }

  // --- Keys. A key only focuses, and a second press or Enter acts.

  const typed = (e) => e.isContentEditable || e.matches("textarea, select, input:not([type=radio], [type=checkbox])");

  // step focuses the next item of the list, or the one before.
  function step(by) {
    const items = all("[data-id]");
    if (items.length === 0) return;
    const at = items.findIndex((e) => e.contains(document.activeElement));
    const next = at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1);
    one("a, button, input", items[next])?.focus();
  }

  // act focuses what the key is for. When that has the focus already, the key presses it.
  function act(key) {
    const target = one(`[data-key="${key}"]`);
    if (!target) return;
    if (target === document.activeElement) target.click();
    else target.focus();
  }

  function search() {
    const filters = one("details.filters");
    if (!filters) return;
    filters.open = true;
    one("input", filters)?.focus();
  }

  document.addEventListener("keydown", (e) => {
    // A key that is held down repeats: that is no second press.
    if (e.defaultPrevented || e.repeat || e.ctrlKey || e.altKey || e.metaKey || e.isComposing) return;
    const help = one("#keys");
    if (typed(e.target) || help?.open) return;
    if (e.key === "j") step(1);
    else if (e.key === "k") step(-1);
    else if (e.key === "a" || e.key === "d" || e.key === "u") act(e.key);
    else if (e.key === "/") search();
    else if (e.key === "?") help?.showModal();
    else return;
    e.preventDefault();
  });

  // --- Begin.

  count();
  setInterval(() => {
    if (count()) want();
  }, 1000);
  setInterval(() => {
    if (one("[data-again]")) want();
  }, again);
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "hidden" && wanted) want();
  });
  listen();
})();
