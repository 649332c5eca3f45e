// What a person chose or typed, kept in this browser. A browser that keeps nothing still has a page that works.

const prefix = 'sandboxrun.';

export function remembered<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(prefix + name);
    return text === null ? otherwise : JSON.parse(text) as T;
  } catch {
    return otherwise;
  }
}

export function remember(name: string, value: unknown): void {
  try {
    if (value === undefined || value === null) localStorage.removeItem(prefix + name);
    else localStorage.setItem(prefix + name, JSON.stringify(value));
  } catch { /* private window or a full store: kept until the tab closes */ }
}

export type Theme = 'system' | 'light' | 'dark';

export function applyTheme(theme: Theme): void {
  remember('theme', theme);
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function currentTheme(): Theme { return remembered<Theme>('theme', 'system'); }
