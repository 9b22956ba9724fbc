import theme from 'vitepress/theme-without-fonts'
import DeviceFigure from './DeviceFigure.vue'
import FunctionFilter from './FunctionFilter.vue'
import './style.css'

const components = { DeviceFigure, FunctionFilter }

export default {
  extends: theme,
  enhanceApp: ({ app }) => Object.entries(components).forEach(([name, component]) => app.component(name, component)),
}
