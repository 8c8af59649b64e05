"""Lines of writing → Encoded over their columns: convolutions see signs, a recurrent layer reads along the line."""

from torch import nn

from regard.attention.memory import Encoded
from regard.data.batching import Padded
from regard.data.planes import Pictures
from regard.encoders.lstmn import LSTMNEncoder
from regard.encoders.plane import PlaneEncoder
from regard.encoders.recurrent import RecurrentEncoder


class ColumnEncoder(nn.Module):
    """h_j = RNN(h_{j-1}, x_j) in both directions,   x_j = [a_1j; …; a_Rj]            after Shi, Bai and Yao 2017

    a_rj is the cell in row r and column j of the map of a picture that is R cells high. A value is a column with all
    that stands in it, one upon the other, and knows its neighbours far away; there are R times fewer places to look at
    than cells, in the order in which a line is written.
    """

    def __init__(self, plane: PlaneEncoder, rnn: RecurrentEncoder | LSTMNEncoder):
        super().__init__()
        self.plane, self.rnn = plane, rnn
        self.size, self.stride = rnn.size, plane.stride

    def forward(self, source: Pictures) -> Encoded:
        maps = self.plane.map(source)
        columns = maps.data.permute(0, 3, 2, 1).flatten(2)  # (B, S, R·V)
        encoded: Encoded = self.rnn(Padded(columns, maps.sizes[:, 1]))
        return encoded
