// Replaces each section of the page when the coordinator says that it changed.
// What comes was rendered and escaped there.
'use strict';
const live = document.getElementById('live');
const events = new EventSource('/events');
events.onopen = () => { live.textContent = 'live'; live.className = 'on'; };
events.onerror = () => { live.textContent = 'not connected'; live.className = 'off'; };
for (const name of ['status', 'spaces', 'attention', 'findings']) {
  events.addEventListener(name, (e) => { document.getElementById(name).innerHTML = e.data; });
}
