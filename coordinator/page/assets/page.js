// Shows times in the viewer's zone, keeps the page up to date, and handles keys. The coordinator has rendered and
// escaped all that it sends; without this script, every page and every form works.
'use strict';
(() => {
  const body = document.body, live = document.getElementById('live');
  const prefix = body.dataset.prefix, silence = 10_000;
  // The coordinator's clock counts, because the viewer's may be wrong: the difference of the two, in ms.
  let skew = Date.parse(body.dataset.at) - Date.now();
  let stateAt = Date.parse(body.dataset.at), heardAt = performance.now();
  const now = () => Date.now() + skew;

  // Times.
  const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' });
  const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' });
  const minute = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const dated = new Intl.DateTimeFormat('sv', { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit' });
  function length(ms) {
    const s = Math.max(0, ms) / 1000;
    if (s < 120) return `${Math.floor(s)} s`;
    if (s < 7200) return `${Math.floor(s / 60)} min`;
    if (s < 172800) return `${Math.floor(s / 3600)} h`;
    return `${Math.floor(s / 86400)} d`;
  }
  function put(node, text) { if (node.textContent !== text) node.textContent = text; }
  function showTimes() {
    for (const t of document.querySelectorAll('time[datetime]')) {
      const at = new Date(t.dateTime);
      const title = exact.format(at);
      if (t.title !== title) t.title = title;
      if (t.dataset.kind === 'ago') put(t, length(Math.abs(now() - at)));
      else put(t, at.toDateString() === new Date(now()).toDateString() ? clock.format(at) : dated.format(at));
    }
    for (const t of document.querySelectorAll('text[data-at]')) put(t, clock.format(new Date(t.dataset.at)));
    for (const t of document.querySelectorAll('text[data-minute]')) put(t, minute.format(new Date(t.dataset.minute)));
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    for (const z of document.querySelectorAll('.zone')) put(z, zone);
  }

  // Updates: nodes stay where they can, so that focus, selection, scroll, open details and inputs stay too.
  const keyOf = (n) => n.nodeType === 1 ? n.dataset.key || n.id : '';
  const kept = { DETAILS: ['open'], INPUT: ['value', 'checked'], DIALOG: ['open'] };
  function sameAttributes(old, next) {
    const mine = kept[old.tagName] || [];
    for (const a of [...old.attributes]) if (!next.hasAttribute(a.name) && !mine.includes(a.name)) old.removeAttribute(a.name);
    for (const a of next.attributes) if (old.getAttribute(a.name) !== a.value && !mine.includes(a.name)) old.setAttribute(a.name, a.value);
  }
  function morph(old, next) {
    if (old.nodeType !== 1) {
      if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
      return;
    }
    if (old.tagName === 'TIME' && old.getAttribute('datetime') === next.getAttribute('datetime')) return;
    if (old.tagName === 'BUTTON' && old.dataset.copy !== undefined && old.dataset.copy === next.dataset.copy) return;
    sameAttributes(old, next);
    if (old.tagName !== 'TEXTAREA') morphChildren(old, next);
  }
  const alike = (a, b) => a.nodeName === b.nodeName && keyOf(a) === keyOf(b);
  function morphChildren(old, next) {
    const wanted = [...next.childNodes], keys = new Set(wanted.map(keyOf)), keyed = new Map();
    for (const c of [...old.childNodes]) {
      if (keyOf(c) && !keys.has(keyOf(c))) c.remove();
      else if (keyOf(c)) keyed.set(keyOf(c), c);
    }
    let at = old.firstChild;
    wanted.forEach((w, i) => {
      let match = keyOf(w) ? keyed.get(keyOf(w)) : null;
      if (!keyOf(w)) {
        // What stands here was removed, unless it comes later: then w was added.
        while (at && !alike(at, w) && !wanted.slice(i + 1).some((later) => alike(at, later))) {
          const gone = at;
          at = at.nextSibling;
          gone.remove();
        }
        if (at && alike(at, w)) match = at;
      }
      if (match && alike(match, w)) {
        if (match !== at) old.insertBefore(match, at);
        morph(match, w);
      } else {
        match = old.insertBefore(w, at);
      }
      at = match.nextSibling;
    });
    while (at) {
      const gone = at;
      at = at.nextSibling;
      gone.remove();
    }
  }
  function update(html) {
    const next = new DOMParser().parseFromString(html, 'text/html').getElementById('main');
    const main = document.getElementById('main');
    if (!next || !main) return;
    const focused = document.activeElement;
    morph(main, next);
    if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
    offerCopy();
    showTitle();
  }
  function showTitle() {
    const main = document.getElementById('main');
    const n = Number(main.dataset.attention || 0);
    if (main.dataset.title) document.title = (n ? `(${n}) ` : '') + main.dataset.title;
  }

  // The stream. A hidden tab has none, because browsers open few connections to one host.
  let stream = null, gone = false;
  function heard(e) {
    stateAt = Date.parse(e.lastEventId);
    skew = stateAt - Date.now();
    heardAt = performance.now();
  }
  function follow() {
    if (stream || gone || document.hidden || !body.dataset.page) return;
    stream = new EventSource(`${prefix}/events?page=${encodeURIComponent(body.dataset.page)}`);
    stream.addEventListener('at', (e) => { heard(e); showAge(); });
    stream.addEventListener('main', (e) => { heard(e); update(e.data); showTimes(); showAge(); });
    stream.addEventListener('gone', () => { gone = true; leave(); showAge(); });
    stream.onerror = () => { if (stream && stream.readyState === EventSource.CLOSED) { stream = null; setTimeout(follow, 3000); } };
  }
  function leave() {
    if (stream) stream.close();
    stream = null;
  }
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) { leave(); return; }
    follow();
  });
  addEventListener('pagehide', leave);
  addEventListener('pageshow', follow);
  function showAge() {
    if (!body.dataset.page) { live.hidden = true; return; }
    const age = performance.now() - heardAt, stale = age > silence;
    body.classList.toggle('stale', stale);
    live.classList.toggle('on', !stale && stream !== null);
    put(live, gone ? 'this is gone' : stale ? `no news for ${length(age)}` : stream ? 'live' : 'connecting');
    live.title = `The newest state is from ${exact.format(new Date(stateAt))}.`;
  }

  // Copying, and keys.
  function offerCopy() {
    if (!navigator.clipboard) return;
    for (const b of document.querySelectorAll('button[data-copy][hidden]')) b.hidden = false;
  }
  document.addEventListener('click', (e) => {
    const button = e.target.closest('button[data-copy]');
    if (!button) return;
    e.preventDefault();
    navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = 'Copied'; }, () => { button.textContent = 'Copy it by hand'; });
  });
  document.addEventListener('toggle', (e) => { // one menu at a time
    if (!e.target.matches('details.drop[open]')) return;
    for (const d of document.querySelectorAll('details.drop[open]')) if (d !== e.target) d.open = false;
  }, true);

  // Sound: a click on the picture or a finding plays from there. Without this script they are links to the sound.
  const player = () => document.getElementById('sound');
  function playFrom(seconds) {
    const audio = player();
    put(document.getElementById('sound-error'), '');
    audio.currentTime = Math.max(0, seconds);
    audio.play().catch(() => {}); // 'error' tells why
  }
  document.addEventListener('click', (e) => {
    if (!player() || e.ctrlKey || e.metaKey || e.shiftKey) return;
    const link = e.target.closest('a[data-hear]'), wave = e.target.closest('svg.wave');
    if (!link && !wave) return;
    e.preventDefault();
    if (link) { playFrom(Number(link.dataset.hear)); return; }
    const box = wave.getBoundingClientRect(), left = Number(wave.dataset.left), right = Number(wave.dataset.right);
    playFrom(((e.clientX - box.left) / box.width - left) / (right - left) * Number(wave.dataset.length));
  });
  function showPlayhead() {
    const wave = document.querySelector('svg.wave'), audio = player();
    if (!wave || !audio) return;
    const left = Number(wave.dataset.left), right = Number(wave.dataset.right), width = wave.viewBox.baseVal.width;
    const head = wave.querySelector('.playhead'), part = Math.min(1, audio.currentTime / Number(wave.dataset.length));
    head.setAttribute('transform', `translate(${(left + part * (right - left)) * width} 0)`);
    head.setAttribute('visibility', 'visible');
  }
  document.addEventListener('timeupdate', showPlayhead, true); // of the player; it does not bubble
  document.addEventListener('error', (e) => {
    if (e.target !== player()) return;
    const tell = (text) => put(document.getElementById('sound-error'), text);
    fetch(player().src, { headers: { Range: 'bytes=0-0' } }).then((r) => r.ok ? '' : r.text()).then((html) => {
      const why = new DOMParser().parseFromString(html, 'text/html').querySelector('.why');
      tell(why ? why.textContent : 'This browser cannot play the recording.');
    }, () => tell('The coordinator does not answer.'));
  }, true);

  let going = 0;
  document.addEventListener('keydown', (e) => {
    if (e.key === 'Escape') for (const d of document.querySelectorAll('details.drop[open]')) d.open = false;
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea, select, [contenteditable]')) return;
    if (e.key === '/') {
      const box = document.querySelector('input[type=search]');
      if (box) { e.preventDefault(); box.focus(); box.select(); }
    } else if (e.key === '?') {
      const keys = document.getElementById('keys');
      if (keys && !keys.open) keys.showModal();
    } else if (e.key === 'g') {
      going = performance.now();
      return;
    } else if (going && performance.now() - going < 1500) {
      const link = document.querySelector(`nav a[data-key="${CSS.escape(e.key)}"]`);
      if (link) link.click();
    }
    going = 0;
  });

  const address = new URL(location.href); // a reload must not tell again what was done
  if (address.searchParams.has('did')) { address.searchParams.delete('did'); history.replaceState(null, '', address); }
  showTimes();
  showTitle();
  offerCopy();
  follow();
  showAge();
  setInterval(() => { showTimes(); showAge(); }, 1000);
})();
