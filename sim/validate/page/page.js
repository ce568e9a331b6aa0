'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const element = id => document.getElementById(id);
const percent = x => (100 * x).toFixed(Math.abs(x) < 0.9995 ? 1 : 0);
const signed = x => (x > 0 ? '+' : '') + percent(x);
const time = us => us < 1e3 ? us.toPrecision(4) + ' us' : us < 1e6 ? (us / 1e3).toPrecision(4) + ' ms' : (us / 1e6).toPrecision(4) + ' s';
const palette = ['#3366cc', '#dc7f2e', '#2a9d5c', '#b8423f', '#7b5bb5', '#8a6d4f', '#d26fae', '#6b7480', '#a8a12c', '#22a3b8',
  '#1b3a7a', '#f2b36b', '#79c99e', '#e59a97', '#b9a3dc'];
const causes = ['tensor', 'fma', 'sfu', 'shared_memory', 'l1', 'crossbar', 'l2_bandwidth', 'l2_latency', 'hbm_bandwidth',
  'hbm_latency', 'dependency', 'barrier', 'launch', 'tail', 'idle'];
const causeColour = Object.fromEntries(causes.map((c, i) => [c, palette[i]]));
const values = key => [...new Set(data.rows.map(r => r[key]))].sort();
const charts = {};

function cell(row, text, kind) {
  const td = row.insertCell();
  td.textContent = text;
  if (kind) td.className = kind;
  return td;
}

function head(table, names, texts) {
  const row = table.createTHead().insertRow();
  names.forEach((name, i) => {
    const th = document.createElement('th');
    th.textContent = name;
    if (i < texts) th.className = 'text';
    th.onclick = () => sortBy(table, i, i < texts);
    row.appendChild(th);
  });
  return table.createTBody();
}

function sortBy(table, column, text) {
  const body = table.tBodies[0], rows = [...body.rows];
  const descending = table.dataset.sorted === String(column);
  table.dataset.sorted = descending ? '' : String(column);
  const key = r => text ? r.cells[column].textContent : parseFloat(r.cells[column].textContent);
  rows.sort((a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) * (descending ? -1 : 1));
  rows.forEach(r => body.appendChild(r));
}

function score(rows) {
  const n = rows.length, sizes = rows.map(r => Math.abs(r.error)).sort((a, b) => a - b);
  const at = p => { const r = p * (n - 1), i = Math.floor(r); return n ? sizes[i] + (r - i) * (sizes[Math.min(i + 1, n - 1)] - sizes[i]) : 0; };
  const mean = f => n ? rows.reduce((s, r) => s + f(r), 0) / n : 0;
  return { rows: n, mape: mean(r => Math.abs(r.error)), bias: mean(r => r.error), median: at(0.5), p90: at(0.9),
    within10: mean(r => Math.abs(r.error) <= 0.1 ? 1 : 0), roofline_mape: mean(r => Math.abs(r.roofline_us / r.real_us - 1)) };
}

function tiles(s) {
  element('tiles').replaceChildren(...[['rows scored', s.rows], ['MAPE %', percent(s.mape)], ['bias %', signed(s.bias)],
    ['median %', percent(s.median)], ['p90 %', percent(s.p90)], ['within 10 %', percent(s.within10)],
    ['roofline MAPE %', percent(s.roofline_mape)], ['not scored', data.unscored.length]].map(([name, value]) => {
    const tile = document.createElement('div'), b = document.createElement('b'), span = document.createElement('span');
    tile.className = 'tile'; b.textContent = value; span.textContent = name; tile.append(b, span);
    return tile;
  }));
}

function draw(id, config) {
  if (charts[id]) charts[id].destroy();
  charts[id] = new Chart(element(id), config);
}

function pointSets(rows, x, y) {
  const key = element('colour').value, names = [...new Set(rows.map(r => r[key]))].sort();
  return names.map((name, i) => ({ label: name, pointRadius: 2.5, backgroundColor: palette[i % palette.length] + 'aa',
    data: rows.filter(r => r[key] === name).map(r => ({ x: x(r), y: y(r), row: r })) }));
}

const tooltip = { callbacks: { label: item => {
  const r = item.raw.row;
  return r ? [`${r.gpu} ${r.op} ${r.dtype}`, r.shape, `measured ${time(r.real_us)}, simulated ${time(r.sim_us)} (${signed(r.error)} %)`, `${r.bound}; ${r.source}; ${r.id}`] : '';
} } };
const logarithmic = text => ({ type: 'logarithmic', title: { display: true, text },
  ticks: { maxRotation: 0, callback: v => Math.abs(Math.log10(v) - Math.round(Math.log10(v))) < 1e-9 ? v.toLocaleString('en') : '' } });
const legend = { position: 'bottom', labels: { boxWidth: 10, font: { size: 11 } } };

function line(points, label, dash) {
  return { type: 'line', label, data: points, borderColor: '#5b6675', borderWidth: 1, borderDash: dash, pointRadius: 0, pointHitRadius: 0 };
}

function scatter(rows) {
  const all = rows.flatMap(r => [r.real_us, r.sim_us]), low = Math.min(...all) / 1.5, high = Math.max(...all) * 1.5;
  const sets = rows.length ? [line([{ x: low, y: low }, { x: high, y: high }], 'equal', [])] : [];
  draw('scatter', { type: 'scatter', data: { datasets: [...pointSets(rows, r => r.real_us, r => r.sim_us), ...sets] },
    options: { animation: false, maintainAspectRatio: false, plugins: { tooltip, legend, title: { display: true, text: 'Simulated against measured' } },
      scales: { x: logarithmic('measured, us'), y: logarithmic('simulated, us') } } });
}

function sizes(rows) {
  draw('size', { type: 'scatter', data: { datasets: pointSets(rows, r => r.real_us, r => r.sim_us / r.real_us) },
    options: { animation: false, maintainAspectRatio: false, plugins: { tooltip, legend, title: { display: true, text: 'Error against size' } },
      scales: { x: logarithmic('measured, us'), y: { ...logarithmic('simulated / measured'), min: 0.1, max: 10,
        afterBuildTicks: axis => { axis.ticks = [0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10].map(value => ({ value })); },
        ticks: { callback: v => v } } } } });
}

const edges = [0, 0.5, 0.67, 0.8, 0.9, 0.95, 1.05, 1.11, 1.25, 1.5, 2, Infinity];
const bins = ['<.5', '.5', '.67', '.8', '.9', '=', '1.05', '1.11', '1.25', '1.5', '>2'];

function histograms(rows) {
  element('histograms').replaceChildren();
  for (const op of [...new Set(rows.map(r => r.op))].sort()) {
    const of = rows.filter(r => r.op === op), counts = bins.map(() => 0), id = 'histogram-' + op;
    of.forEach(r => { counts[edges.findIndex((e, i) => r.error + 1 >= e && r.error + 1 < edges[i + 1])]++; });
    const box = document.createElement('div'), canvas = document.createElement('canvas');
    box.className = 'chart'; canvas.id = id; box.append(canvas); element('histograms').append(box);
    draw(id, { type: 'bar', data: { labels: bins, datasets: [{ data: counts, backgroundColor: bins.map((b, i) => i === 5 ? '#2a9d5c' : i > 3 && i < 7 ? '#79c99e' : '#3366cc') }] },
      options: { animation: false, maintainAspectRatio: false, plugins: { legend: { display: false },
        title: { display: true, text: `${op}: ${of.length} rows, MAPE ${percent(score(of).mape)} %` } },
        scales: { x: { ticks: { font: { size: 9 }, maxRotation: 0, autoSkip: false }, grid: { display: false } } } } });
  }
}

function groups(rows) {
  const table = element('groups');
  table.replaceChildren();
  const body = head(table, ['GPU', 'op', 'dtype', 'rows', 'MAPE', 'bias', 'median', 'p90', 'within 10 %', 'roofline MAPE'], 3);
  const keys = new Map();
  rows.forEach(r => { const k = [r.gpu, r.op, r.dtype].join(' '); keys.set(k, [...(keys.get(k) || []), r]); });
  for (const [key, of] of [...keys].sort()) {
    const s = score(of), row = body.insertRow();
    key.split(' ').forEach(t => cell(row, t, 'text'));
    cell(row, s.rows);
    cell(row, percent(s.mape), s.mape < s.roofline_mape ? 'good' : 'bad');
    [signed(s.bias), percent(s.median), percent(s.p90), percent(s.within10), percent(s.roofline_mape)].forEach(t => cell(row, t));
  }
}

function bar(row) {
  const box = document.createElement('div');
  box.className = 'bar';
  for (const [cause, share] of Object.entries(row.causes)) {
    const part = document.createElement('i');
    part.style.cssText = `width:${100 * share}%;background:${causeColour[cause]}`;
    part.title = `${cause} ${percent(share)} %`;
    box.append(part);
  }
  return box;
}

function worst(rows) {
  const table = element('worst');
  table.replaceChildren();
  const body = head(table, ['GPU', 'op', 'dtype', 'shape', 'error %', 'measured us', 'simulated us', 'bound', 'causes', 'row'], 4);
  for (const r of [...rows].sort((a, b) => Math.abs(b.error) - Math.abs(a.error)).slice(0, 100)) {
    const row = body.insertRow();
    [r.gpu, r.op, r.dtype].forEach(t => cell(row, t, 'text'));
    cell(row, r.shape.replaceAll(';', '; '), 'shape');
    cell(row, signed(r.error));
    cell(row, r.real_us.toPrecision(4));
    cell(row, r.sim_us.toPrecision(4));
    cell(row, r.bound, 'text');
    cell(row, '').append(bar(r));
    cell(row, r.id, 'text');
  }
}

function unscored() {
  const table = element('unscored');
  if (!data.unscored.length) { table.outerHTML = '<p class="none">Every row was scored.</p>'; return; }
  const body = head(table, ['rows', 'status', 'reason', 'first row'], 0), reasons = new Map();
  const key = r => r.status === 'impossible' ? r.id : r.reason;
  data.unscored.forEach(r => reasons.set(key(r), [...(reasons.get(key(r)) || []), r]));
  for (const [, of] of [...reasons].sort((a, b) => b[1].length - a[1].length)) {
    const row = body.insertRow(), r = of[0];
    cell(row, of.length);
    [r.status, r.reason, `${r.file}:${r.line}`].forEach(t => cell(row, t, 'text'));
  }
}

function fill(id) {
  element(id).replaceChildren(...['all', ...values(id)].map(v => new Option(v, v)));
  element(id).onchange = show;
}

function show() {
  const wanted = Object.fromEntries(['gpu', 'op', 'dtype', 'source'].map(k => [k, element(k).value]));
  const rows = data.rows.filter(r => Object.entries(wanted).every(([k, v]) => v === 'all' || r[k] === v));
  tiles(score(rows));
  scatter(rows);
  sizes(rows);
  histograms(rows);
  groups(rows);
  worst(rows);
}

element('summary').textContent = `${data.overall.rows_read} measured rows, ${data.overall.simulations} simulations, ${data.rows.length} rows scored, ${data.unscored.length} not scored.`;
element('legend').replaceChildren(...causes.map(c => {
  const span = document.createElement('span'), i = document.createElement('i');
  i.style.background = causeColour[c]; span.append(i, c);
  return span;
}));
['gpu', 'op', 'dtype', 'source'].forEach(fill);
element('colour').onchange = show;
show();
unscored();
document.body.dataset.ready = 'yes';
