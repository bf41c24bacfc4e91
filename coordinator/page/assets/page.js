// Replaces a section of the page when the coordinator sends a new one. The coordinator has
// rendered and escaped it.
'use strict';
const live = document.getElementById('live');
const events = new EventSource('/events');
events.onopen = () => { live.textContent = 'live'; live.className = 'on'; };
events.onerror = () => { live.textContent = 'not connected'; live.className = 'off'; };
for (const name of ['status', 'spaces', 'schedules', 'attention', 'findings']) {
  events.addEventListener(name, (e) => { document.getElementById(name).innerHTML = e.data; });
}
