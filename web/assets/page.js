// What scripts add to every page.
// @ts-check
