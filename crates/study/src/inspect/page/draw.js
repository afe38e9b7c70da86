// Drawing: SVG by hand, and a line of text beside the pointer.

const facts = JSON.parse(document.getElementById('facts').textContent);
const byId = id => document.getElementById(id);

function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function html(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

// Numbers as people read them.
const whole = number => Math.round(number).toLocaleString('en');
const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
const tip = {
  show(text, event) {
    const box = byId('tip');
    box.textContent = text;
    box.style.opacity = 1;
    const { width, height } = box.getBoundingClientRect();
    const x = Math.max(6, Math.min(event.clientX + 14, innerWidth - width - 6));
    const above = event.clientY - height - 14;
    box.style.left = `${x}px`;
    box.style.top = `${above > 6 ? above : event.clientY + 18}px`;
  },
  hide() {
    byId('tip').style.opacity = 0;
  },
};
addEventListener('scroll', tip.hide, { passive: true });
