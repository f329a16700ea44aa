import './style.css';
import { expose } from './debug';
import { type Session } from './session';
import './ui/page';

document.querySelector('phosphene-page')!.addEventListener('ready', (event) => {
  expose((event as CustomEvent<Session>).detail);
});
